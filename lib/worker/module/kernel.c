/*
 * kernel.c - the jobs that find the kernels and the global variables of a loaded module; owns the
 * session's table of kernels and each module's list of kernels. A job's prepare and install run on
 * the main lane, its work on a service thread (job.h).
 */
#include "worker/module/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/resume.h"
#include "worker/memory/server_memory.h"
#include "worker/module/fenced.h"
#include "worker/module/kernel_names.h"
#include "worker/module/local_memory.h"
#include "worker/module/module_table.h"
#include "worker/module/rewrite.h"
#include "worker/partition/carveout.h"

/* ---- Kernels --------------------------------------------------------------------------------- */

static void kernel_prepare(struct job *job)
{
    struct session *session = job->session;

    module_prepare(job);
    if (!job->object)
        return;
    job->index = table_slot((void ***)&session->kernels.table, &session->kernels.capacity,
                            &session->kernels.lowest, SEG_KERNELS);
    if (job->index == UINT32_MAX)
        job_fail(job, GS_ERR_LIMIT, "the session has %u kernel handles, the limit", SEG_KERNELS);
}

/* The parameters and waits that passes of ptx/rewrite have added to a kernel. */
struct added {
    bool signals_end, ends_after, windowed;
    uint32_t index; /* of the first added parameter; UINT32_MAX: none was added */
};

static struct added kernel_added(const struct module *module, const char *name)
{
    struct added added = {.index = UINT32_MAX};

    if (!module->rewrite)
        return added;
    const struct ptx_rewrite_kernel *reported = ptx_rewrite_report_kernel(module->rewrite, name);
    const struct ptx_fence_kernel *windowed =
        ptx_fence_report_kernel(&module->rewrite->fence, name);
    added.signals_end = reported && reported->completes;
    added.ends_after = reported && reported->ends_after;
    added.windowed = windowed != NULL;
    if (added.signals_end)
        added.index = reported->index;
    else if (windowed)
        added.index = windowed->index;
    return added;
}

/* Reads the layout of the kernel's parameters into the answer: the first `own` of them, which are
 * the tenant's. On failure the job has failed. */
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

/* Allows launches with clusters of more than 8 blocks: the program has to know on which devices it
 * may use these. A driver that does not support this refuses such launches. */
static void large_clusters_allow(CUfunction function)
{
    if (worker->info.compute_major >= 9)
        DRV_ASK(cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                1);
}

static CUresult attributes_read(CUfunction function, struct req_kernel *info)
{
    static const CUfunction_attribute wanted[] = {
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,  CU_FUNC_ATTRIBUTE_NUM_REGS,
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,      CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET};
    int value[ARRAY_SIZE(wanted)] = {0};

    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        CUresult result = DRV(cuFuncGetAttribute, &value[i], wanted[i], function);
        if (result)
            return result;
    }
    const uint32_t shared = (uint32_t)value[2], most = worker->info.max_dynamic_smem;
    info->max_threads_per_block = (uint32_t)value[0];
    info->registers = (uint32_t)value[1];
    info->static_smem = shared;
    info->local_bytes = (uint32_t)value[3];
    for (unsigned i = 0; i < 3; i++)
        info->cluster[i] = (uint16_t)value[4 + i];
    info->flags = value[7] ? REQ_KERNEL_IN_CLUSTERS : 0;
    info->max_dynamic_smem = most > shared ? most - shared : 0;
    large_clusters_allow(function);
    /* The driver has to be told once that launches may ask for more than 48 KiB. */
    if (shared + info->max_dynamic_smem > 48u << 10)
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
    memcpy(kernel->cluster, info->cluster, sizeof(kernel->cluster));
    kernel->in_clusters = info->flags & REQ_KERNEL_IN_CLUSTERS;
    for (uint32_t i = 0; i < info->param_count; i++)
        kernel->param_offset[i] = info->param[i].offset;
    snprintf(kernel->name, sizeof(kernel->name), "%.63s", job->name);
    return kernel;
}

/* Reads the names of the module's kernels once, except kernels that passes have added. Names that
 * the driver does not tell are left out. */
static void kernels_read(struct module *module)
{
    unsigned count = 0;

    if (module->kernel_names)
        return;
    if (DRV(cuModuleGetFunctionCount, &count, module->cu))
        count = 0;
    CLEANUP_FREE CUfunction *functions = calloc(count + 1, sizeof(*functions));
    const char **names = calloc(count + 1, sizeof(*names)), *name;
    if (!functions || !names || DRV(cuModuleEnumerateFunctions, functions, count, module->cu))
        count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!DRV(cuFuncGetName, &name, functions[i]) &&
            strncmp(name, REWRITE_PREFIX, strlen(REWRITE_PREFIX)) != 0)
            names[module->kernel_count++] = name;
    }
    module->kernel_names = names;
}

/* Returns why the software device cannot run the kernel, from its list in left_out; NULL: the
 * kernel is not in the list. */
static const char *device_reason(const struct module *module, const char *name)
{
    const size_t length = strlen(name);
    const char *line = module->left_out;

    for (; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, length) && (line[length] == ',' || line[length] == ':'))
            return line + length + 2;
    }
    return NULL;
}

/* Fails the job with the reason why the module lacks the kernel: a pass or the software device has
 * left it out, or the module has no kernel of that name. */
static void kernel_missing(struct job *job)
{
    struct module *module = job->object;
    const char *reason =
        module->rewrite ? ptx_rewrite_report_left_out(module->rewrite, job->name) : NULL;

    if (reason) {
        job_fail(job, job->session->fenced ? GS_ERR_PERMISSION : GS_ERR_BAD_IMAGE,
                 "%skernel \"%.200s\" cannot be had: %s",
                 job->session->fenced ? "the session's kernels are fenced into its memory, and "
                                      : "",
                 job->name, reason);
        return;
    }
    reason = device_reason(module, job->name);
    if (reason) {
        job_fail(job, GS_ERR_BAD_IMAGE, "kernel \"%.200s\" cannot be had: %.*s", job->name,
                 (int)strcspn(reason, "\n"), reason);
        return;
    }
    kernels_read(module);
    kernel_names_tell(job->message, sizeof(job->message), job->name, module->kernel_names,
                      module->kernel_count);
    job->status = GS_ERR_NOT_FOUND;
}

static void kernel_list_work(struct job *job)
{
    struct module *module = job->object;

    kernels_read(module);
    job->ret[0] = module->kernel_count;
    if (job->arg[1] < module->kernel_count)
        snprintf(job->message, sizeof(job->message), "%s", module->kernel_names[job->arg[1]]);
}

/* Returns the address of the barrier of the module's grids; 0: it has none. A module may have a
 * million variables and many kernels, so the barrier is looked for once. */
static CUdeviceptr module_barrier(struct module *module)
{
    uint64_t bytes;

    if (!module->barrier_sought)
        fenced_variable(module, GRID_VARIABLE, &module->barrier, &bytes);
    module->barrier_sought = true;
    return module->barrier;
}

/* Notes the offsets at which launches of the kernel have tensor maps. On failure the job has
 * failed. */
static gs_status maps_note(struct job *job, const struct module *module, struct kernel *kernel)
{
    const struct ptx_fence_maps *maps =
        module->rewrite ? ptx_fence_report_maps(&module->rewrite->fence, job->name) : NULL;

    for (uint32_t i = 0; maps && i < maps->count; i++) {
        const uint32_t parameter = maps->map[i].parameter, offset = maps->map[i].offset;
        const struct req_kernel *info = job->kernel;

        if (parameter >= info->param_count ||
            offset + FENCE_MAP_BYTES > info->param[parameter].size)
            return job_fail(job, GS_ERR_PARAMS, "a tensor map beyond the kernel's parameters");
        kernel->map_offset[kernel->map_count++] =
            (uint16_t)(info->param[parameter].offset + offset);
    }
    return GS_OK;
}

/* Finds the kernel, has the driver load it, and adds its record to the module's list. On failure
 * the job has failed. */
static void kernel_work(struct job *job)
{
    struct module *module = job->object;
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
    /* The kernel is loaded now, so that its first launch does not hold up the lane. */
    if (result || (result = DRV(cuFuncLoad, function)) ||
        (result = attributes_read(function, job->kernel))) {
        job_fail_driver(job, result);
        return;
    }
    const struct added added = kernel_added(module, job->name);
    if (params_read(job, function, added.index) != GS_OK ||
        local_memory_check(job, job->kernel->local_bytes) != GS_OK)
        return;
    struct kernel *kernel = kernel_new(job, function);
    if (!kernel) {
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for a kernel's record");
        return;
    }
    if (maps_note(job, module, kernel) != GS_OK) {
        kernels_free(kernel);
        return;
    }
    kernel->signals_end = added.signals_end;
    kernel->ends_after = added.ends_after;
    kernel->windowed = added.windowed;
    kernel->variables = module->variables;
    kernel->syncs_grid = grid_sync_has(&module->grid, job->name);
    kernel->barrier = module_barrier(module);
    job->kernel->flags |= kernel->syncs_grid ? REQ_KERNEL_SYNCS_GRID : 0;
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

/* Returns the server memory that a kernel counts as: its record here, its entry in the journal with
 * its name, and the driver's records. */
static uint64_t kernel_server_bytes(const struct job *job)
{
    return 1024 + strlen(job->name);
}

static void kernel_get_work(struct job *job)
{
    struct module *module = job->object;

    if (server_memory_charge(job, kernel_server_bytes(job)) != GS_OK)
        return;
    kernel_work(job);
    if (job->status == GS_OK) {
        module->server_bytes += kernel_server_bytes(job); /* discharged with the module */
        kernel_note(job);
    } else {
        server_memory_discharge(job->session, kernel_server_bytes(job));
    }
}

static void kernel_install(struct job *job)
{
    struct module *module = job->object;

    module->kernels->serial = ++job->session->serial;
    job->session->kernels.table[job->index] = module->kernels;
}

struct kernel *kernels_remove(struct session *session, struct module *module, uint32_t most)
{
    struct kernel *first = NULL, *kernel;

    for (uint32_t n = 0; n < most && (kernel = module->kernels); n++) {
        session->kernels.table[kernel->id] = NULL;
        table_free(&session->kernels.lowest, kernel->id);
        module->kernels = kernel->next;
        kernel->next = first;
        first = kernel;
    }
    for (uint32_t n = 0; n < most && module->named_count; n++)
        allocations_remove(&session->memory.allocations, module->named[--module->named_count]);
    return first;
}

bool kernels_left(const struct module *module)
{
    return module->kernels || module->named_count;
}

void kernels_free(struct kernel *first)
{
    while (first) {
        struct kernel *next = first->next;
        free(first->param_offset);
        free(first);
        first = next;
    }
}

void kernels_deinit(struct module *module)
{
    kernels_free(module->kernels);
    module->kernels = NULL;
    free(module->kernel_names);
    module->kernel_names = NULL;
    free(module->named);
    module->named = NULL;
}

/* ---- Globals --------------------------------------------------------------------------------- */

static void global_work(struct job *job)
{
    const struct module *module = job->object;
    CUdeviceptr address = 0;
    size_t size = 0;
    CUresult result = CUDA_ERROR_NOT_FOUND;

    const bool ours = !strncmp(job->name, REWRITE_PREFIX, strlen(REWRITE_PREFIX));
    if (!ours && fenced_variable(module, job->name, &job->ret[0], &job->ret[1])) {
        const uint64_t value[JOURNAL_VALUES] = {job->ret[1], module->id};
        journal_put(job->session->journal, JOURNAL_VARIABLE, job->ret[0], value, NULL, 0);
        return;
    }
    journal_set_incomplete(job->session->journal, "it uses a variable that lies in its module");
    if (!ours)
        result = DRV(cuModuleGetGlobal_v2, &address, &size, module->cu, job->name);
    /* For the name of a kernel the driver returns CUDA_ERROR_INVALID_VALUE. */
    if (result == CUDA_ERROR_NOT_FOUND || result == CUDA_ERROR_INVALID_VALUE)
        job_fail(job, GS_ERR_NOT_FOUND, "the module has no global variable \"%s\"", job->name);
    else if (result)
        job_fail_driver(job, result);
    job->ret[0] = address;
    job->ret[1] = size;
}

/* Enters the variable into the table of what copies may name. False: there is no memory. */
static bool variable_name(struct session *session, struct module *module, uint64_t address,
                          uint64_t size)
{
    if (module->named_count == module->named_capacity) {
        const uint32_t capacity = module->named_capacity ? 2 * module->named_capacity : 4;
        uint64_t *named = reallocarray(module->named, capacity, sizeof(*named));
        if (!named)
            return false;
        module->named = named;
        module->named_capacity = capacity;
    }
    if (!allocations_put(&session->memory.allocations, address, size, module))
        return false;
    module->named[module->named_count++] = address;
    return true;
}

static void global_install(struct job *job)
{
    /* A variable that the tenant has asked for before is in the table already. */
    if (!allocations_at(&job->session->memory.allocations, job->ret[0]) &&
        !variable_name(job->session, job->object, job->ret[0], job->ret[1]))
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for a global variable's record");
}

/* ---- Taking up ------------------------------------------------------------------------------- */

static gs_status kernel_resume(struct job *job, const struct journal_entry *entry)
{
    struct session *session = job->session;

    job->object = module_find(session, entry->value[0]);
    job->index = (uint32_t)entry->key;
    if (!job->object || entry->size >= sizeof(job->name) || entry->key >= SEG_KERNELS ||
        !table_reach((void ***)&session->kernels.table, &session->kernels.capacity, job->index,
                     SEG_KERNELS))
        return job_fail(job, GS_ERR_INTERRUPTED, "a kernel has no slot in its table");
    memcpy(job->name, entry->bytes, entry->size);
    job->name[entry->size] = '\0';
    session->serial = entry->value[1] - 1;
    kernel_work(job);
    free(job->kernel);
    job->kernel = NULL;
    if (job->status != GS_OK)
        return job->status;
    server_memory_adopt(session, kernel_server_bytes(job));
    ((struct module *)job->object)->server_bytes += kernel_server_bytes(job);
    kernel_install(job);
    return GS_OK;
}

static bool is_name(const struct journal_entry *entry)
{
    return entry->kind == JOURNAL_KERNEL || entry->kind == JOURNAL_VARIABLE;
}

gs_status kernels_list(struct job *job)
{
    const struct journal *journal = job->session->journal;
    struct resume *resume = job->session->resume;
    uint32_t count = 0;

    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));)
        count += is_name(e);
    resume->names = calloc(count + 1, sizeof(*resume->names));
    if (!resume->names)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for a session's kernels");
    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        if (is_name(e))
            resume->names[resume->name_count++] = (struct resume_name){e->kind, e->key};
    }
    return GS_OK;
}

static gs_status variable_resume(struct job *job, const struct journal_entry *entry)
{
    struct session *session = job->session;
    struct module *module = module_find(session, entry->value[1]);

    if (allocations_at(&session->memory.allocations, entry->key) ||
        (module && variable_name(session, module, entry->key, entry->value[0])))
        return GS_OK;
    return job_fail(job, GS_ERR_INTERRUPTED, "a variable has no place in its module");
}

gs_status kernels_resume(struct job *job, uint64_t until)
{
    struct session *session = job->session;
    struct resume *resume = session->resume;
    uint64_t serial = session->serial;

    for (bool first = true; resume->named < resume->name_count; first = false) {
        const struct resume_name *name = &resume->names[resume->named];
        const struct journal_entry *entry;

        if (!first && clock_ns() > until)
            break;
        entry = journal_find(session->journal, (enum journal_kind)name->kind, name->key);
        if (entry && entry->kind == JOURNAL_KERNEL)
            kernel_resume(job, entry);
        else if (entry)
            variable_resume(job, entry);
        if (job->status != GS_OK)
            return job->status;
        serial = session->serial > serial ? session->serial : serial;
        resume->named++;
    }
    session->serial = serial;
    return GS_OK;
}

const struct job_kind job_kernel_get = {"kernel_get",    JOB_QUICK,      kernel_prepare,
                                        kernel_get_work, kernel_install, NULL};
const struct job_kind job_global_get = {"global_get", JOB_QUICK,      module_prepare,
                                        global_work,  global_install, NULL};
const struct job_kind job_module_kernel = {"module_kernel",  JOB_QUICK, module_prepare,
                                           kernel_list_work, NULL,      NULL};
