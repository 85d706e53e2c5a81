/*
 * module.c - the jobs that load and unload modules; owns the session's table of modules. A job's
 * prepare and install run on the main lane, its work on a service thread (job.h).
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
#include "worker/memory/driver_memory.h"
#include "worker/memory/host_block.h"
#include "worker/memory/resume.h"
#include "worker/memory/server_memory.h"
#include "worker/module/compile.h"
#include "worker/module/fenced.h"
#include "worker/module/heap.h"
#include "worker/module/image.h"
#include "worker/module/kernel.h"
#include "worker/module/kernel_fault.h"
#include "worker/module/local_memory.h"
#include "worker/module/module_table.h"
#include "worker/module/print.h"
#include "worker/module/rewrite.h"
#include "worker/module/rewrite_cache.h"
#include "worker/submit/graph_cache.h"

#define IMAGE_MAX    (UINT64_C(512) << 20)
/* The server memory that a module counts as beside its image: its records here and in the driver.
 */
#define SERVER_BYTES (UINT64_C(256) << 10)
enum { LEFT_OUT_BYTES = 16384 };

/* ---- Freeing --------------------------------------------------------------------------------- */

/* Unloads a module from the context, if it is loaded, frees its variables in the window, and ends
 * its charges. */
static void module_code_unload(struct session *session, struct module *module)
{
    if (module->cu)
        DRV_MUST(cuModuleUnload, module->cu);
    module->cu = NULL;
    fenced_free(session, module);
    server_memory_discharge(session, module->server_bytes);
    driver_memory_discharge(session, module->driver_bytes);
    module->server_bytes = module->driver_bytes = 0;
}

/* Frees the worker's record of a module that is not in the context. */
static void module_record_free(struct module *module)
{
    kernels_deinit(module);
    report_release(module->rewrite);
    free(module->code);
    free(module->source);
    free(module->left_out);
    grid_sync_deinit(&module->grid);
    free(module);
}

static void module_free(struct session *session, struct module *module)
{
    module_code_unload(session, module);
    module_record_free(module);
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void load_prepare(struct job *job)
{
    const struct host_block *block = host_block_find(job->session, job->arg[0]);

    if (!block || job->arg[1] == 0 || job->arg[1] > block->size || job->arg[1] > IMAGE_MAX) {
        job_fail(job, GS_ERR_INVALID_VALUE,
                 "an image of %" PRIu64 " bytes is not in the host block given", job->arg[1]);
        return;
    }
    struct session_module *own = &job->session->module;

    job->index = table_slot((void ***)&own->modules, &own->module_capacity, &own->module_lowest,
                            SEG_MODULES);
    if (job->index == UINT32_MAX)
        job_fail(job, GS_ERR_LIMIT, "the session has %u modules, the limit", SEG_MODULES);
    job->brief = true;
}

#define SOURCE_MAX (UINT64_C(64) << 20)

/* Keeps a copy of the tenant's image until the journal has it. */
static void module_source_keep(const struct session *session, struct module *module, uint64_t size)
{
    if (journal_incomplete(session->journal))
        return;
    module->source = size <= SOURCE_MAX ? malloc(size) : NULL;
    if (!module->source) {
        journal_set_incomplete(session->journal, "a module is too large for its journal");
        return;
    }
    memcpy(module->source, module->code, size);
    module->source_size = size;
}

/* Returns why the next worker could not restore the module, so that the session ends with this
 * worker: the module keeps in the context something that a tenant can change, or that other memory
 * can refer to. NULL: it keeps nothing. */
static const char *module_stays(const struct session *session, const struct module *module,
                                uint64_t size, bool state)
{
    static const char pointers[] = "a module has pointers to functions";

    if (session->fenced)
        return module->rewrite->fence.nfunctions > 0 ? pointers : NULL;
    if (module->rewrite && module->rewrite->fence.moved)
        return module->rewrite->fence.nfunctions > 0 || image_has_pointers(module->code, size)
                   ? pointers
                   : NULL;
    if (image_binary(module->code, size))
        return image_code_is_pure(module->code, size)
                   ? NULL
                   : "a module is machine code that has, or may have, variables, printf, malloc "
                     "or addresses of functions";
    return state
               ? "a module has variables outside of the session's memory, or pointers to functions"
               : NULL;
}

/* Returns the bytes that stay of the module's text: mostly names of kernels and variables. They may
 * be nearly all of a text, and a fatbin packs 64 MiB of them into a few KB. */
static uint64_t names_bytes(const struct module *module)
{
    return grid_sync_bytes(&module->grid) +
           (module->rewrite ? ptx_rewrite_report_bytes(module->rewrite) : 0);
}

/* Notes the loaded module in the journal, marks the journal incomplete if the next worker could not
 * restore the module, and reduces the session's charge to the memory that stays. */
static void module_note(struct session *session, struct module *module)
{
    const uint64_t value[JOURNAL_VALUES] = {module->variables};
    const uint64_t server_bytes =
        SERVER_BYTES + (module->source ? module->source_size : 0) + names_bytes(module);

    server_memory_discharge(session,
                            module->server_bytes - server_bytes); /* the driver has the code now */
    module->server_bytes = server_bytes;
    if (module->stays)
        journal_set_incomplete(session->journal, module->stays);
    if (module->source)
        journal_put(session->journal, JOURNAL_MODULE, module->id, value, module->source,
                    module->source_size);
    free(module->source);
    module->source = NULL;
}

/* Makes a module whose code is a copy of the image with a NUL behind it. NULL: the job has failed.
 */
static struct module *module_new(struct job *job, const void *image, uint64_t size)
{
    struct module *module = calloc(1, sizeof(*module));
    unsigned char *code = malloc(size + 1);

    if (!module || !code) {
        free(module);
        free(code);
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for an image of %" PRIu64 " bytes", size);
        return NULL;
    }
    memcpy(code, image, size);
    code[size] = '\0';
    module->code = code;
    return module;
}

/* Rewrites the module's code, which is the tenant's image, and prepares the window for its kernels.
 * On failure the job has failed. */
static gs_status image_prepare(struct job *job, struct module *module, uint64_t size)
{
    const char *fault = size ? image_fault(module->code, size) : "the image is empty";
    bool state;

    if (fault)
        return job_fail(job, GS_ERR_BAD_IMAGE, "%s", fault);
    job_compile_begin(job);
    image_rewrite(job, &module->code, &size, &module->rewrite, &module->grid, &state);
    job_compile_end(job);
    if (job->status == GS_OK && fenced_prepare(job, module) == GS_OK) {
        if (!job->session->resume && !journal_incomplete(job->session->journal))
            module->stays = module_stays(job->session, module, size, state);
        module->code_size = size;
    }
    return job->status;
}

/* Compiles the module's code, unless it is machine code. On failure the job has failed. */
static gs_status module_compile(struct job *job, struct module *module)
{
    if (!image_binary(module->code, module->code_size))
        image_compile(job, &module->code, &module->code_size,
                      module->rewrite && module->rewrite->fence.large);
    return job->status;
}

static gs_status names_charge(struct job *job, struct module *module)
{
    const uint64_t bytes = names_bytes(module);

    if (server_memory_charge(job, bytes) == GS_OK)
        module->server_bytes += bytes;
    return job->status;
}

/* The first stage of a load: all work that the driver need not do at a quiet moment. */
static void compile_work(struct job *job)
{
    const struct host_block *block = host_block_find(job->session, job->arg[0]);
    uint64_t size = job->arg[1];
    const uint64_t server_bytes =
        SERVER_BYTES + 2 * size; /* the code, and the image for the journal */
    struct module *module;

    if (job_go_on(job) != GS_OK || server_memory_charge(job, server_bytes) != GS_OK)
        return;
    module = module_new(job, block->memory, size);
    if (!module) {
        server_memory_discharge(job->session, server_bytes);
        return;
    }
    module->server_bytes = server_bytes;
    while (!image_binary(module->code, size) && size > 0 && module->code[size - 1] == '\0')
        size--; /* the tenant may count the text's NUL */
    module_source_keep(job->session, module, size);
    if (image_prepare(job, module, size) == GS_OK && names_charge(job, module) == GS_OK &&
        module_compile(job, module) == GS_OK)
        job->made = module;
    else
        module_free(job->session, module);
}

/* Loads all kernels of a module: where the driver loads lazily (main.c), the first launch of each
 * kernel would make all other launches wait. */
static CUresult functions_load(CUmodule module)
{
    unsigned count = 0;
    CUresult result = DRV(cuModuleGetFunctionCount, &count, module);
    CLEANUP_FREE CUfunction *functions = calloc(count + 1, sizeof(*functions));

    if (!functions)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!result)
        result = DRV(cuModuleEnumerateFunctions, functions, count, module);
    for (unsigned i = 0; i < count && !result; i++)
        result = DRV(cuFuncLoad, functions[i]);
    return result;
}

/* Charges the session for the device memory that the code takes. On failure the job has failed. */
static gs_status code_charge(struct job *job, struct module *module)
{
    const uint64_t bytes = module->code_size + DRIVER_MODULE;

    if (job->session->resume)
        driver_memory_adopt(job->session, bytes);
    else if (driver_memory_charge_job(job, bytes) != GS_OK)
        return job->status;
    module->driver_bytes = bytes;
    return GS_OK;
}

/* Has the driver load the module's code, at a quiet moment. On failure the job has failed. */
static gs_status module_code_load(struct job *job, struct module *module)
{
    struct image_log log = {{0}};
    char *left_out = calloc(1, LEFT_OUT_BYTES);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.text, (void *)(uintptr_t)sizeof(log.text), left_out,
                      (void *)(uintptr_t)LEFT_OUT_BYTES};
    /* Only the software device writes a list into left_out, of the kernels that it cannot run. */
    const unsigned count = left_out && !worker->machine_code ? 4 : 2;
    CUresult result;

    free(module->left_out);
    module->left_out = left_out;
    if (code_charge(job, module) != GS_OK || fenced_place(job, module) != GS_OK ||
        heap_open(job, module) != GS_OK)
        return job->status;
    if (module->rewrite)
        stack_make_up(job->session, module->rewrite->fence.stack_bytes);
    result = DRV(cuModuleLoadDataEx, &module->cu, module->code, count, options, values);
    if (result == CUDA_ERROR_UNKNOWN && !DRV(cuStreamQuery, service_stream()))
        result = CUDA_ERROR_INVALID_IMAGE; /* some invalid images give this result */
    if (result) {
        module->cu = NULL;
        return image_refused(job, result, &log);
    }
    free(module->code);
    module->code = NULL;
    if ((result = functions_load(module->cu)) || (result = print_bind(job, module)) ||
        (result = heap_bind(job->session, module)) ||
        (result = fenced_bind(job->session, module)) ||
        (result = kernel_fault_bind(job->session, module, module->id)))
        return job_fail_driver(job, result);
    return GS_OK;
}

/* The second stage of a load, at a quiet moment. */
static void load_work(struct job *job)
{
    struct module *module = job->made;

    module->id = job->index;
    /* The job has failed already where no quiet moment came. */
    if (job->status != GS_OK || module_code_load(job, module) != GS_OK) {
        module_free(job->session, module);
        return;
    }
    job->ret[0] = job->index;
    if (job->message[0] == '\0') /* the next worker could not repeat the text of an answer */
        job_makes(job, JOURNAL_MODULE, module->id);
    module_note(job->session, module);
    job->object = module;
}

static void load_install(struct job *job)
{
    job->session->module.modules[job->index] = job->object;
    kernel_fault_watch(job->session, job->object);
}

/* ---- Taking up ------------------------------------------------------------------------------- */

/* How long a late session's modules are loaded at a time, while all other sessions wait. */
#define LATE_LOAD_NS 3000000u

/* Restores a former worker's module, but does not compile it. NULL: the job has failed. */
static struct module *module_again(struct job *job, const struct journal_entry *entry)
{
    struct session *session = job->session;
    struct module *module = module_new(job, entry->bytes, entry->size);

    if (!module)
        return NULL;
    module->id = (uint32_t)entry->key;
    module->server_bytes = SERVER_BYTES + entry->size;
    server_memory_adopt(session, module->server_bytes);
    module->variables = entry->value[0];
    session->module.modules[module->id] = module;
    if (image_prepare(job, module, entry->size) != GS_OK)
        return NULL;
    server_memory_adopt(session, names_bytes(module));
    module->server_bytes += names_bytes(module);
    return module;
}

static void module_remove(struct session *session, struct module *module)
{
    session->module.modules[module->id] = NULL;
    module->variables = 0; /* the variables keep their memory */
    module_free(session, module);
}

/* Finds the next module of the journal, after *entry, that the session does not have yet; false:
 * there is none. */
static bool module_missing(const struct session *session, const struct journal_entry **entry)
{
    do
        *entry = journal_next(session->journal, *entry);
    while (*entry && ((*entry)->kind != JOURNAL_MODULE || module_find(session, (*entry)->key)));
    return *entry;
}

static gs_status tables_resume(struct job *job)
{
    struct session_module *own = &job->session->module;

    for (const struct journal_entry *e = NULL; module_missing(job->session, &e);) {
        if (e->key >= SEG_MODULES || !table_reach((void ***)&own->modules, &own->module_capacity,
                                                  (uint32_t)e->key, SEG_MODULES))
            return job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of modules");
    }
    return GS_OK;
}

gs_status modules_resume(struct job *job)
{
    struct resume *resume = job->session->resume;

    if (tables_resume(job) != GS_OK || kernels_list(job) != GS_OK)
        return job->status;
    for (const struct journal_entry *e = NULL; module_missing(job->session, &e);) {
        if (clock_ns() >= resume->prompt_until) {
            resume->late = true;
            return GS_OK;
        }
        struct module *module = module_again(job, e);
        if (!module)
            return job->status;
        if (image_binary(module->code, module->code_size) ||
            image_find_code(job, &module->code, &module->code_size))
            continue;
        module_remove(job->session, module);
        resume->late = true;
        return GS_OK;
    }
    return GS_OK;
}

gs_status modules_resume_late(struct job *job)
{
    for (const struct journal_entry *e = NULL; module_missing(job->session, &e);) {
        struct module *module = job_go_on(job) == GS_OK ? module_again(job, e) : NULL;
        if (!module || module_compile(job, module) != GS_OK)
            return job->status;
    }
    return GS_OK;
}

bool modules_unloaded(const struct session *session)
{
    const struct resume *resume = session->resume;

    return resume->loaded < session->module.module_capacity || resume->named < resume->name_count;
}

/* Loads a restored module into this worker's context. On failure the job has failed. */
static gs_status module_load_again(struct job *job, struct module *module)
{
    memset(job->ret, 0, sizeof(job->ret));
    if (job->session->module.print && print_open(job) != GS_OK)
        return job->status;
    return module_code_load(job, module);
}

gs_status modules_resume_load(struct job *job)
{
    struct session *session = job->session;
    struct resume *resume = session->resume;
    const bool late = resume->late;
    const uint64_t until = late ? clock_ns() + LATE_LOAD_NS : resume->prompt_until;

    /* A late session has at least one module loaded in each call, however short the time is. */
    for (bool first = late; resume->loaded < session->module.module_capacity; first = false) {
        if (!first && clock_ns() > until) {
            resume->late = true;
            return GS_OK;
        }
        struct module *module = session->module.modules[resume->loaded++];
        if (module && module_load_again(job, module) != GS_OK)
            return job->status;
    }
    if (kernels_resume(job, until) == GS_OK)
        resume->late = late || modules_unloaded(session);
    return job->status;
}

void modules_resumed(struct session *session)
{
    for (uint32_t i = 0; i < session->module.module_capacity; i++) {
        if (session->module.modules[i])
            kernel_fault_watch(session, session->module.modules[i]);
    }
}

/* ---- Unloading ------------------------------------------------------------------------------- */

static void unload_prepare(struct job *job)
{
    module_prepare(job);
    job->at_once = job->arg[1] == SEG_FREE_BESIDE;
}

/* Removes the module, its kernels and its variables from the journal. */
static void module_journal_remove(struct session *session, const struct module *module)
{
    journal_remove(session->journal, JOURNAL_MODULE, module->id);
    for (const struct kernel *kernel = module->kernels; kernel; kernel = kernel->next)
        journal_remove(session->journal, JOURNAL_KERNEL, kernel->id);
    for (uint32_t i = 0; module->variables && i < module->rewrite->fence.nvariables; i++)
        journal_remove(session->journal, JOURNAL_VARIABLE,
                       module->variables + module->rewrite->fence.variables[i].offset);
}

static void unload_work(struct job *job)
{
    if (job->status != GS_OK) /* the session has work, and the tenant does not wait */
        return;
    job_removes(job, JOURNAL_MODULE, job->arg[0]);
    module_journal_remove(job->session, job->object);
    /* Nodes of the session's graphs hold functions of this module. The session has no work on the
     * device, so no lane uses the graphs now. */
    graph_caches_clear(job->session);
    module_code_unload(job->session, job->object);
}

/* How many kernels, and variables, one step removes from their tables: a module may have 65,536,
 * which take the main lane 6 ms, and others wait for it. */
#define UNLOAD_STEP 256u

static void unload_install(struct job *job);

static void unload_more_work(struct job *job)
{
    kernels_free(job->made);
}

static void unload_end_work(struct job *job)
{
    kernels_free(job->made);
    module_record_free(job->object);
}

static const struct job_kind job_unload_end = {"module_unload_end", JOB_QUICK, NULL,
                                               unload_end_work,     NULL,      NULL};
static const struct job_kind job_unload_more = {
    "module_unload_more", JOB_QUICK, NULL, unload_more_work, unload_install, &job_unload_more};

/* The session's new work waits until the last step, so no lane uses the module in the meantime. */
static void unload_install(struct job *job)
{
    struct session *session = job->session;
    struct module *module = job->object;

    job->made = kernels_remove(session, module, UNLOAD_STEP);
    job->kind = kernels_left(module) ? &job_unload_more : &job_module_unload;
    if (kernels_left(module))
        return;
    session->module.modules[module->id] = NULL;
    table_free(&session->module.module_lowest, module->id);
    session->memory.generation++;
}

void modules_deinit(struct session *session)
{
    for (uint32_t i = 0; i < session->module.module_capacity; i++) {
        if (!session->module.modules[i])
            continue;
        session->module.modules[i]->variables = 0; /* freed with the window */
        module_free(session, session->module.modules[i]);
    }
    free(session->module.modules);
    free(session->kernels.table);
    session->module.modules = NULL;
    session->module.module_capacity = session->module.module_lowest = 0;
    session->kernels = (struct session_kernels){0};
}

static const struct job_kind job_module_code_load = {
    "module_code_load", JOB_PATIENT | JOB_QUIET, NULL, load_work, load_install, NULL};
const struct job_kind job_module_load = {"module_load", JOB_PATIENT | JOB_COMPILES,
                                         load_prepare,  compile_work,
                                         NULL,          &job_module_code_load};
const struct job_kind job_module_unload = {"module_unload", JOB_SESSION_IDLE | JOB_PATIENT,
                                           unload_prepare,  unload_work,
                                           unload_install,  &job_unload_end};
