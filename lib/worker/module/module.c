/*
 * module.c - the jobs that load and unload modules, and that find their kernels and global
 * variables. A job's prepare and install run on the main lane, its work on a service thread
 * (job.h).
 *
 * An image is copied out of the tenant's memory before the worker reads it.
 */
#include "worker/module/module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/util.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/host_block.h"
#include "worker/module/fenced.h"
#include "worker/module/heap.h"
#include "worker/module/image.h"
#include "worker/module/kernel_fault.h"
#include "worker/module/kernel_names.h"
#include "worker/module/print.h"
#include "worker/module/rewrite.h"
#include "worker/partition/carveout.h"
#include "worker/submit/graph_cache.h"

#define IMAGE_MAX (UINT64_C(512) << 20)

/* ---- Freeing --------------------------------------------------------------------------------- */

static void kernel_free(struct kernel *kernel)
{
    free(kernel->param_offset);
    free(kernel);
}

/* Frees a module, loaded or not. */
static void module_free(struct session *session, struct module *module)
{
    while (module->kernels) {
        struct kernel *next = module->kernels->next;
        kernel_free(module->kernels);
        module->kernels = next;
    }
    if (module->cu)
        DRV_MUST(cuModuleUnload, module->cu);
    fenced_free(session, module);
    image_report_free(module->rewrite);
    free(module->code);
    free(module->source);
    grid_sync_deinit(&module->grid);
    free(module);
}

/* ---- Loading --------------------------------------------------------------------------------- */

static struct module *module_find(const struct session *session, uint64_t number)
{
    return number < session->module.module_capacity ? session->module.modules[number] : NULL;
}

/* Doubles a table of pointers, up to `max` entries. */
static bool table_grow(void ***table, uint32_t *capacity, uint32_t max)
{
    uint32_t bigger = *capacity ? *capacity * 2 : 16;

    if (bigger > max)
        bigger = max;
    void **grown = bigger > *capacity ? realloc(*table, bigger * sizeof(void *)) : NULL;
    if (!grown)
        return false;
    memset(grown + *capacity, 0, (bigger - *capacity) * sizeof(void *));
    *table = grown;
    *capacity = bigger;
    return true;
}

/* The index of a free entry in a table of pointers, which grows up to `max` entries. UINT32_MAX:
 * the table is full, or there is no memory. */
static uint32_t table_slot(void ***table, uint32_t *capacity, uint32_t max)
{
    uint32_t i = 0;

    while (i < *capacity && (*table)[i])
        i++;
    return i < *capacity || table_grow(table, capacity, max) ? i : UINT32_MAX;
}

/* Makes the table of pointers so long that it has an entry of this index. */
static bool table_reach(void ***table, uint32_t *capacity, uint32_t index, uint32_t max)
{
    while (*capacity <= index) {
        const uint32_t before = *capacity;
        if (!table_grow(table, capacity, max) || *capacity == before)
            return false;
    }
    return true;
}

static void kernel_work(struct job *job);
static void kernel_install(struct job *job);

static void load_prepare(struct job *job)
{
    const struct host_block *block = host_block_find(job->session, job->arg[0]);

    if (!block || job->arg[1] == 0 || job->arg[1] > block->size || job->arg[1] > IMAGE_MAX) {
        job_fail(job, GS_ERR_INVALID_VALUE,
                 "an image of %" PRIu64 " bytes is not in the host block given", job->arg[1]);
        return;
    }
    job->index = table_slot((void ***)&job->session->module.modules,
                            &job->session->module.module_capacity, SEG_MODULES);
    if (job->index == UINT32_MAX)
        job_fail(job, GS_ERR_LIMIT, "the session has %u modules, the limit", SEG_MODULES);
}

/* The driver's message about an image. */
struct image_log {
    char text[3072];
};

static gs_status image_refused(struct job *job, CUresult result, struct image_log *log)
{
    gs_status status = job_fail_driver(job, result);

    log->text[sizeof(log->text) - 1] = '\0';
    if (log->text[0]) {
        size_t n = strlen(job->message);
        snprintf(job->message + n, sizeof(job->message) - n, "\n%s", log->text);
    }
    /* An image that the driver refuses is a bad image, whichever error the driver returns. */
    if (status == GS_ERR_DRIVER || status == GS_ERR_NOT_FOUND)
        job->status = GS_ERR_BAD_IMAGE;
    return job->status;
}

/* Compiles PTX to machine code, which replaces *image. cuModuleLoadData would compile too, but
 * would hold the lock that every launch needs: for 3,000 lines it stalls launches for 145 ms,
 * cuLink* for some 0.1 ms. */
static gs_status image_compile(struct job *job, unsigned char **image, uint64_t size)
{
    struct image_log log = {{0}};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.text, (void *)(uintptr_t)sizeof(log.text)};
    CUlinkState link;
    void *code = NULL;
    size_t code_size = 0;
    CUresult result = DRV(cuLinkCreate_v2, 2, options, values, &link);

    if (result)
        return image_refused(job, result, &log);
    result =
        DRV(cuLinkAddData_v2, link, CU_JIT_INPUT_PTX, *image, size + 1, "tenant", 0, NULL, NULL);
    if (!result)
        result = DRV(cuLinkComplete, link, &code, &code_size);
    if (result) {
        image_refused(job, result, &log);
    } else {
        unsigned char *copy = malloc(code_size);
        if (copy) {
            memcpy(copy, code, code_size);
            free(*image);
            *image = copy;
        } else {
            job_fail(job, GS_ERR_NO_MEMORY, "no memory for %zu bytes of machine code", code_size);
        }
    }
    DRV_MUST(cuLinkDestroy, link);
    return job->status;
}

#define SOURCE_MAX (UINT64_C(64) << 20)

/* Keeps a copy of the tenant's image until the journal has it. */
static void module_source_keep(const struct session *session, struct module *module,
                               const unsigned char *image, uint64_t size)
{
    if (journal_spoilt(session->journal))
        return;
    module->source = size <= SOURCE_MAX ? malloc(size) : NULL;
    if (!module->source) {
        journal_spoil(session->journal, "a module is too large for its journal");
        return;
    }
    memcpy(module->source, image, size);
    module->source_size = size;
}

/* Whether the module keeps anything in the context that a tenant can change, or that other memory
 * can refer to: variables outside the window, functions whose address is taken. */
static bool module_stays(const struct session *session, const struct module *module, bool binary)
{
    if (session->fenced)
        return module->rewrite->fence.nfunctions > 0;
    return binary || !module->source || image_has_state(module->source, module->source_size);
}

static void module_watch(struct session *session, const struct module *module, bool binary)
{
    if (module_stays(session, module, binary))
        journal_spoil(session->journal,
                      "a module has global variables, function pointers or machine code");
}

static void module_note(struct session *session, struct module *module)
{
    const uint64_t value[JOURNAL_VALUES] = {module->variables};

    if (module->source)
        journal_put(session->journal, JOURNAL_MODULE, module->id, value, module->source,
                    module->source_size);
    free(module->source);
    module->source = NULL;
}

/* Makes of the image, which it takes over, what the driver can load without compiling. */
static gs_status image_prepare(struct job *job, struct module *module, unsigned char *image,
                               uint64_t size)
{
    const char *fault = size ? image_fault(image, size) : "the image is empty";

    if (fault)
        job_fail(job, GS_ERR_BAD_IMAGE, "%s", fault);
    else if (image_rewrite(job, &image, &size, &module->rewrite, &module->grid) == GS_OK &&
             fenced_prepare(job, module) == GS_OK) {
        if (!job->session->resume)
            module_watch(job->session, module, image_binary(image, size));
        if (!image_binary(image, size))
            image_compile(job, &image, size);
    }
    module->code = image;
    return job->status;
}

/* The first stage of a load: everything that the driver need not do at a quiet moment. */
static void compile_work(struct job *job)
{
    const struct host_block *block = host_block_find(job->session, job->arg[0]);
    uint64_t size = job->arg[1];
    struct module *module = calloc(1, sizeof(*module));
    unsigned char *image = malloc(size + 1);

    if (!image || !module) {
        free(image);
        free(module);
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for an image of %" PRIu64 " bytes", size);
        return;
    }
    memcpy(image, block->memory, size);
    image[size] = '\0';
    while (!image_binary(image, size) && size > 0 && image[size - 1] == '\0')
        size--; /* the tenant may count the text's NUL */
    module_source_keep(job->session, module, image, size);
    if (image_prepare(job, module, image, size) == GS_OK)
        job->made = module;
    else
        module_free(job->session, module);
}

/* Has the driver load the module's code. At a quiet moment. */
static gs_status module_place(struct job *job, struct module *module)
{
    struct image_log log = {{0}};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.text, (void *)(uintptr_t)sizeof(log.text)};
    CUresult result;

    if (fenced_place(job, module) != GS_OK || heap_open(job, module) != GS_OK)
        return job->status;
    result = DRV(cuModuleLoadDataEx, &module->cu, module->code, 2, options, values);
    if (result == CUDA_ERROR_UNKNOWN && !DRV(cuStreamQuery, service_stream()))
        result = CUDA_ERROR_INVALID_IMAGE; /* so it is for some: the context lives */
    if (result) {
        module->cu = NULL;
        return image_refused(job, result, &log);
    }
    free(module->code);
    module->code = NULL;
    if ((result = print_bind(job, module->cu)) || (result = heap_bind(job->session, module)) ||
        (result = fenced_bind(job->session, module)) ||
        (result = kernel_fault_bind(job->session, module, module->id)))
        return job_fail_driver(job, result);
    return GS_OK;
}

/* The second stage of a load. */
static void load_work(struct job *job)
{
    struct module *module = job->made;

    module->id = job->index;
    /* The status is another where no quiet moment came. */
    if (job->status != GS_OK || module_place(job, module) != GS_OK) {
        module_free(job->session, module);
        return;
    }
    module_note(job->session, module);
    job->object = module;
    job->ret[0] = job->index;
}

static void load_install(struct job *job)
{
    job->session->module.modules[job->index] = job->object;
    kernel_fault_watch(job->session, job->object);
}

/* ---- Taking up ------------------------------------------------------------------------------- */

gs_status modules_resume(struct job *job)
{
    struct session *session = job->session;

    for (const struct journal_entry *e = NULL; (e = journal_next(session->journal, e));) {
        if (e->kind != JOURNAL_MODULE)
            continue;
        if (e->key >= SEG_MODULES ||
            !table_reach((void ***)&session->module.modules, &session->module.module_capacity,
                         (uint32_t)e->key, SEG_MODULES))
            return job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of modules");
        struct module *module = calloc(1, sizeof(*module));
        unsigned char *image = malloc(e->size + 1);
        if (!module || !image) {
            free(module);
            free(image);
            return job_fail(job, GS_ERR_NO_MEMORY, "no memory for an image of %" PRIu64 " bytes",
                            e->size);
        }
        memcpy(image, e->bytes, e->size);
        image[e->size] = '\0';
        module->id = (uint32_t)e->key;
        module->variables = e->value[0];
        session->module.modules[e->key] = module;
        if (image_prepare(job, module, image, e->size) != GS_OK)
            return job->status;
    }
    return GS_OK;
}

static gs_status kernel_resume(struct job *job, const struct journal_entry *entry)
{
    struct session *session = job->session;

    job->object = module_find(session, entry->value[0]);
    job->index = (uint32_t)entry->key;
    if (!job->object || entry->size >= sizeof(job->name) || entry->key >= SEG_KERNELS ||
        !table_reach((void ***)&session->kernels.table, &session->kernels.capacity, job->index,
                     SEG_KERNELS))
        return job_fail(job, GS_ERR_INTERRUPTED, "a kernel has no place in its table");
    memcpy(job->name, entry->bytes, entry->size);
    job->name[entry->size] = '\0';
    session->serial = entry->value[1] - 1;
    kernel_work(job);
    free(job->kernel);
    job->kernel = NULL;
    if (job->status == GS_OK)
        kernel_install(job);
    return job->status;
}

gs_status modules_resume_place(struct job *job)
{
    struct session *session = job->session;
    uint64_t serial = session->serial;

    for (uint32_t i = 0; i < session->module.module_capacity; i++) {
        struct module *module = session->module.modules[i];
        memset(job->ret, 0, sizeof(job->ret));
        if (module && ((session->module.print && print_open(job) != GS_OK) ||
                       module_place(job, module) != GS_OK))
            return job->status;
        if (module)
            kernel_fault_watch(session, module);
    }
    for (const struct journal_entry *e = NULL; (e = journal_next(session->journal, e));) {
        if (e->kind == JOURNAL_KERNEL && kernel_resume(job, e) != GS_OK)
            return job->status;
        serial = session->serial > serial ? session->serial : serial;
        if (e->kind == JOURNAL_VARIABLE && !space_at(&session->memory.allocations, e->key) &&
            !space_put(&session->memory.allocations, e->key, e->value[0],
                       module_find(session, e->value[1])))
            return job_fail(job, GS_ERR_INTERRUPTED, "a variable has no place in its module");
    }
    session->serial = serial;
    return GS_OK;
}

/* ---- Unloading ------------------------------------------------------------------------------- */

static void unload_prepare(struct job *job)
{
    struct session *session = job->session;
    struct module *module = module_find(session, job->arg[0]);

    if (!module) {
        job_fail(job, GS_ERR_INVALID_HANDLE, "module %" PRIu64 " does not exist", job->arg[0]);
        return;
    }
    for (struct kernel *kernel = module->kernels; kernel; kernel = kernel->next)
        session->kernels.table[kernel->id] = NULL;
    space_remove_tagged(&session->memory.allocations, module);
    session->module.modules[module->id] = NULL;
    session->memory.generation++;
    job->object = module;
}

/* What the journal has of a module goes with the module. */
static void module_forget(struct session *session, const struct module *module)
{
    journal_drop(session->journal, JOURNAL_MODULE, module->id);
    for (const struct kernel *kernel = module->kernels; kernel; kernel = kernel->next)
        journal_drop(session->journal, JOURNAL_KERNEL, kernel->id);
    for (uint32_t i = 0; module->variables && i < module->rewrite->fence.nvariables; i++)
        journal_drop(session->journal, JOURNAL_VARIABLE,
                     module->variables + module->rewrite->fence.variables[i].offset);
}

static void unload_work(struct job *job)
{
    job_commit(job);
    module_forget(job->session, job->object);
    /* Nodes of the streams' graphs hold functions of this module. The session is quiet, so no lane
     * uses the graphs now. */
    for (uint32_t i = 0; i < SEG_STREAMS; i++)
        graph_cache_clear(job->session->submit.streams[i].graph_cache);
    module_free(job->session, job->object);
}

void modules_deinit(struct session *session)
{
    for (uint32_t i = 0; i < session->module.module_capacity; i++) {
        if (!session->module.modules[i])
            continue;
        session->module.modules[i]->variables = 0; /* they went with the window */
        module_free(session, session->module.modules[i]);
    }
    free(session->module.modules);
    free(session->kernels.table);
    session->module.modules = NULL;
    session->module.module_capacity = 0;
    session->kernels = (struct session_kernels){0};
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static void kernel_prepare(struct job *job)
{
    struct session *session = job->session;

    job->object = module_find(session, job->arg[0]);
    if (!job->object) {
        job_fail(job, GS_ERR_INVALID_HANDLE, "module %" PRIu64 " does not exist", job->arg[0]);
        return;
    }
    job->index =
        table_slot((void ***)&session->kernels.table, &session->kernels.capacity, SEG_KERNELS);
    if (job->index == UINT32_MAX)
        job_fail(job, GS_ERR_LIMIT, "the session has %u kernel handles, the limit", SEG_KERNELS);
}

/* The number of parameters that the tenant's text gives the kernel of this name. UINT32_MAX: the
 * kernel has no completion parameter, and every parameter that the driver reports is the tenant's.
 */
static uint32_t own_params(const struct module *module, const char *name)
{
    const struct ptx_rewrite_kernel *kernel =
        module->rewrite ? ptx_rewrite_report_kernel(module->rewrite, name) : NULL;

    return kernel && kernel->completes ? kernel->index : UINT32_MAX;
}

/* Reads the layout of the tenant's parameters into the reply. */
static gs_status params_read(struct job *job, CUfunction function, uint32_t own)
{
    struct req_kernel *info = job->kernel;
    size_t offset, size;

    while (info->param_count < own &&
           !cu->cuFuncGetParamInfo(function, info->param_count, &offset, &size)) {
        if (info->param_count == REQ_PARAMS_MAX || offset + size > REQ_PARAM_BYTES_MAX)
            return job_fail(job, GS_ERR_PARAMS,
                            "the kernel takes more than %u parameters or %u bytes of them",
                            REQ_PARAMS_MAX, REQ_PARAM_BYTES_MAX);
        info->param[info->param_count].offset = (uint16_t)offset;
        info->param[info->param_count].size = (uint16_t)size;
        info->param_count++;
        if (offset + size > info->param_bytes)
            info->param_bytes = (uint32_t)(offset + size);
    }
    return GS_OK;
}

static CUresult attributes_read(CUfunction function, struct req_kernel *info)
{
    int threads = 0, registers = 0, shared = 0, local = 0;
    CUresult result;

    if ((result = DRV(cuFuncGetAttribute, &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                      function)) ||
        (result = DRV(cuFuncGetAttribute, &registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function)) ||
        (result =
             DRV(cuFuncGetAttribute, &shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)) ||
        (result = DRV(cuFuncGetAttribute, &local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function)))
        return result;
    info->max_threads_per_block = (uint32_t)threads;
    info->registers = (uint32_t)registers;
    info->static_smem = (uint32_t)shared;
    info->local_bytes = (uint32_t)local;
    info->max_dynamic_smem = worker->info.max_dynamic_smem > (uint32_t)shared
                                 ? worker->info.max_dynamic_smem - (uint32_t)shared
                                 : 0;
    /* For more than 48 KiB the driver must be told once how much a launch may ask for. */
    if (info->max_dynamic_smem > 48u << 10 || (uint32_t)shared + info->max_dynamic_smem > 48u << 10)
        return DRV(cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   (int)info->max_dynamic_smem);
    return CUDA_SUCCESS;
}

static struct kernel *kernel_new(struct job *job, CUfunction function)
{
    const struct req_kernel *info = job->kernel;
    struct kernel *kernel = calloc(1, sizeof(*kernel));

    if (kernel)
        kernel->param_offset = calloc(info->param_count + 1, sizeof(*kernel->param_offset));
    if (!kernel || !kernel->param_offset) {
        free(kernel);
        return NULL;
    }
    kernel->function = function;
    kernel->module = job->object;
    kernel->id = job->index;
    kernel->param_count = info->param_count;
    kernel->param_bytes = info->param_bytes;
    kernel->max_threads = info->max_threads_per_block;
    kernel->max_dynamic_smem = info->max_dynamic_smem;
    kernel->sm_threads = carveout_threads(info->registers);
    kernel->static_smem = info->static_smem;
    for (uint32_t i = 0; i < info->param_count; i++)
        kernel->param_offset[i] = info->param[i].offset;
    snprintf(kernel->name, sizeof(kernel->name), "%.63s", job->name);
    return kernel;
}

/* Fails the job with the names that there are. They are in the answer to a call that fails, so what
 * the driver does not tell is left out. */
static void kernel_missing(struct job *job)
{
    const struct module *module = job->object;
    unsigned count = 0, named = 0;

    if (DRV(cuModuleGetFunctionCount, &count, module->cu))
        count = 0;
    CLEANUP_FREE CUfunction *functions = calloc(count + 1, sizeof(*functions));
    CLEANUP_FREE const char **names = calloc(count + 1, sizeof(*names));
    if (!functions || !names || DRV(cuModuleEnumerateFunctions, functions, count, module->cu))
        count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!DRV(cuFuncGetName, &names[named], functions[i]) &&
            strncmp(names[named], REWRITE_PREFIX, strlen(REWRITE_PREFIX)) != 0)
            named++;
    }
    kernel_names_tell(job->message, sizeof(job->message), job->name, names, named);
    job->status = GS_ERR_NOT_FOUND;
}

static void kernel_work(struct job *job)
{
    struct module *module = job->object;
    uint64_t barrier_bytes;
    CUfunction function;
    CUresult result = DRV(cuModuleGetFunction, &function, module->cu, job->name);

    if (result == CUDA_ERROR_NOT_FOUND) {
        kernel_missing(job);
        return;
    }
    job->kernel = calloc(1, sizeof(*job->kernel));
    if (!job->kernel) {
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for a kernel's record");
        return;
    }
    /* The kernel is loaded now, so that its first launch does not stop the lane for the loading. */
    if (result || (result = DRV(cuFuncLoad, function)) ||
        (result = attributes_read(function, job->kernel))) {
        job_fail_driver(job, result);
        return;
    }
    const uint32_t own = own_params(module, job->name);
    if (params_read(job, function, own) != GS_OK)
        return;
    struct kernel *kernel = kernel_new(job, function);
    if (!kernel) {
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for a kernel's record");
        return;
    }
    kernel->tells_end = own != UINT32_MAX;
    kernel->syncs_grid = grid_sync_has(&module->grid, job->name);
    fenced_variable(module, GRID_VARIABLE, &kernel->barrier, &barrier_bytes);
    job->kernel->flags = kernel->syncs_grid ? REQ_KERNEL_SYNCS_GRID : 0;
    /* The module is not unloaded meanwhile, because an unload would be another job of this session,
     * which has one job in progress at a time. */
    kernel->next = module->kernels;
    module->kernels = kernel;
    job->ret[0] = job->index;
}

static void kernel_note(struct job *job)
{
    const struct module *module = job->object;
    const uint64_t value[JOURNAL_VALUES] = {module->id, job->session->serial + 1};

    journal_put(job->session->journal, JOURNAL_KERNEL, job->index, value, job->name,
                strlen(job->name));
}

static void kernel_get_work(struct job *job)
{
    kernel_work(job);
    if (job->status == GS_OK)
        kernel_note(job);
}

static void kernel_install(struct job *job)
{
    struct module *module = job->object;

    module->kernels->serial = ++job->session->serial;
    job->session->kernels.table[job->index] = module->kernels;
}

/* ---- Globals --------------------------------------------------------------------------------- */

static void global_prepare(struct job *job)
{
    job->object = module_find(job->session, job->arg[0]);
    if (!job->object)
        job_fail(job, GS_ERR_INVALID_HANDLE, "module %" PRIu64 " does not exist", job->arg[0]);
}

static void global_work(struct job *job)
{
    const struct module *module = job->object;
    CUdeviceptr address = 0;
    size_t size = 0;
    CUresult result = CUDA_ERROR_NOT_FOUND;

    const bool house = !strncmp(job->name, REWRITE_PREFIX, strlen(REWRITE_PREFIX));
    if (!house && fenced_variable(module, job->name, &job->ret[0], &job->ret[1])) {
        const uint64_t value[JOURNAL_VALUES] = {job->ret[1], module->id};
        journal_put(job->session->journal, JOURNAL_VARIABLE, job->ret[0], value, NULL, 0);
        return;
    }
    journal_spoil(job->session->journal, "it uses a variable that lies in its module");
    if (!house)
        result = DRV(cuModuleGetGlobal_v2, &address, &size, module->cu, job->name);
    /* For the name of a kernel the driver returns CUDA_ERROR_INVALID_VALUE. */
    if (result == CUDA_ERROR_NOT_FOUND || result == CUDA_ERROR_INVALID_VALUE)
        job_fail(job, GS_ERR_NOT_FOUND, "the module has no global variable \"%s\"", job->name);
    else if (result)
        job_fail_driver(job, result);
    job->ret[0] = address;
    job->ret[1] = size;
}

static void global_install(struct job *job)
{
    struct space *allocations = &job->session->memory.allocations;

    /* A variable that the tenant has asked for before is in the table already. */
    if (!space_at(allocations, job->ret[0]) &&
        !space_put(allocations, job->ret[0], job->ret[1], job->object))
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for a global variable's record");
}

static const struct job_kind job_module_place = {
    "module_place", JOB_PATIENT | JOB_QUIET, NULL, load_work, load_install, NULL};
const struct job_kind job_module_load = {"module_load", JOB_PATIENT, load_prepare,
                                         compile_work,  NULL,        &job_module_place};
const struct job_kind job_module_unload = {
    "module_unload", JOB_QUIESCE | JOB_PATIENT, unload_prepare, unload_work, NULL, NULL};
const struct job_kind job_kernel_get = {"kernel_get",    JOB_QUICK,      kernel_prepare,
                                        kernel_get_work, kernel_install, NULL};
const struct job_kind job_global_get = {"global_get", JOB_QUICK,      global_prepare,
                                        global_work,  global_install, NULL};
