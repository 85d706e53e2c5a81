/* fenced.c - see fenced.h. */
#include "worker/module/fenced.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/size_text.h"
#include "common/util.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx/rewrite/texture_table.h"
#include "worker/jobs/job.h"
#include "worker/memory/limits.h"
#include "worker/memory/memory.h"
#include "worker/memory/window.h"
#include "worker/module/pass_variable.h"
#include "worker/texture/table.h"

static const struct ptx_fence_report *report_of(const struct module *module)
{
    const struct ptx_fence_report *report = module->rewrite ? &module->rewrite->fence : NULL;

    return report && (report->fenced || report->moved) ? report : NULL;
}

static CUresult write_bytes(CUdeviceptr to, const void *from, uint64_t bytes)
{
    return bytes ? DRV(cuMemcpyHtoDAsync_v2, to, from, bytes, service_stream()) : CUDA_SUCCESS;
}

/* Finds a constant of the module. *at 0: the compiler has removed it, because no kernel uses it. */
static CUresult constant_find(const struct module *module, const char *name, CUdeviceptr *at)
{
    CUresult result = DRV_ASK(cuModuleGetGlobal_v2, at, NULL, module->cu, name);

    if (result)
        *at = 0;
    return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result;
}

/* Writes the addresses among the initial values of variables. loaded: those that are known only
 * once the driver has loaded the module, which are those of functions and those in constants; else
 * all others. */
static CUresult write_addresses(const struct module *module, bool loaded, const uint64_t *functions)
{
    const struct ptx_fence_report *report = report_of(module);
    CLEANUP_FREE uint64_t *values = calloc(report->naddresses + 1, sizeof(*values));
    CUresult result = values ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY, done;
    const char *constant = NULL; /* the constant that `at` is the address of */
    CUdeviceptr at = module->variables;

    for (uint32_t i = 0; i < report->naddresses && !result; i++) {
        const struct ptx_fence_address *a = &report->addresses[i];
        if ((a->is_function || a->constant) != loaded)
            continue;
        values[i] =
            ((a->is_function ? functions[a->function] : module->variables) + a->value) >> a->shift;
        if (a->constant != constant) {
            at = module->variables;
            constant = a->constant;
            if (constant)
                result = constant_find(module, constant, &at);
        }
        if (!result && at)
            result = write_bytes(at + a->offset, &values[i], a->size);
    }
    done = DRV(cuStreamSynchronize, service_stream());
    return result ? result : done;
}

static CUresult write_values(const struct module *module)
{
    const struct ptx_fence_report *report = report_of(module);
    CUresult result = CUDA_SUCCESS, rest;

    for (uint32_t i = 0; i < report->nvariables && !result; i++) {
        const struct ptx_fence_variable *v = &report->variables[i];
        result = write_bytes(module->variables + v->offset, v->bytes, v->nbytes);
    }
    rest = write_addresses(module, false, NULL); /* waits for all writes */
    return result ? result : rest;
}

gs_status fenced_prepare(struct job *job, const struct module *module)
{
    const struct ptx_fence_report *report = report_of(module);
    char taken[SIZE_TEXT_MAX], limit[SIZE_TEXT_MAX];

    if (!report)
        return GS_OK;
    if (report->align > worker->granularity)
        return job_fail(job, GS_ERR_NOT_SUPPORTED,
                        "a global variable is aligned to %" PRIu32
                        " bytes; in a fenced session %" PRIu64 " is the most",
                        report->align, worker->granularity);
    if (report->bytes > worker->info.memory_total)
        return job_fail(job, GS_ERR_QUOTA,
                        "the module's global variables take %s, the session's limit is %s",
                        size_exact(taken, report->bytes),
                        size_exact(limit, memory_limits(job->session).session));
    if (report->textures && texture_table_open(job) != GS_OK)
        return job->status;
    return report->fenced ? window_cover(job, report->indexed) : GS_OK;
}

gs_status fenced_place(struct job *job, struct module *module)
{
    const struct ptx_fence_report *report = report_of(module);
    CUresult result;

    if (!report || report->bytes == 0)
        return GS_OK;
    if (job->session->resume) /* the variables' memory was kept, with their values */
        return memory_adopt(job->session, module->variables, report->bytes)
                   ? GS_OK
                   : job_fail(job, GS_ERR_INTERRUPTED, "a module's variables have no place");
    if (memory_take(job, report->bytes, report->align, &module->variables) != GS_OK)
        return job->status;
    result = write_values(module);
    return result ? job_fail_driver(job, result) : GS_OK;
}

static CUresult bind_addresses(const struct module *module)
{
    const struct ptx_fence_report *report = report_of(module);
    CLEANUP_FREE uint64_t *functions = NULL;
    CUdeviceptr table;
    CUresult result = CUDA_SUCCESS;

    if (report->naddresses == 0)
        return CUDA_SUCCESS;
    functions = calloc(report->nfunctions + 1, sizeof(*functions));
    if (!functions)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (report->nfunctions)
        result = DRV(cuModuleGetGlobal_v2, &table, NULL, module->cu, FENCE_FUNCTIONS);
    if (!result && report->nfunctions)
        result = DRV(cuMemcpyDtoHAsync_v2, functions, table,
                     report->nfunctions * sizeof(*functions), service_stream());
    if (!result)
        result = DRV(cuStreamSynchronize, service_stream());
    return result ? result : write_addresses(module, true, functions);
}

static CUresult bind_textures(const struct session *session, const struct module *module)
{
    const CUdeviceptr table = texture_table_address(session);

    return pass_variable_write(module, FENCE_TEXTURES, &table, sizeof(table), NULL);
}

CUresult fenced_bind(struct session *session, struct module *module)
{
    CUdeviceptr constant = 0;
    CUresult result;

    if (!report_of(module))
        return CUDA_SUCCESS;
    const struct fence_window window = window_of(session, module->variables);
    result = bind_addresses(module);
    if (!result && report_of(module)->textures)
        result = bind_textures(session, module);
    if (!result)
        result = pass_variable_write(module, FENCE_VARIABLE, &window, sizeof(window), &constant);
    if (!result && constant)
        result = window_bind(session, constant);
    if (!result)
        module->window = constant;
    return result;
}

void fenced_free(struct session *session, struct module *module)
{
    if (module->variables)
        memory_give(session, module->variables);
    module->variables = 0;
    window_unbind(session, module->window);
    module->window = 0;
}

bool fenced_variable(const struct module *module, const char *name, uint64_t *address,
                     uint64_t *size)
{
    const struct ptx_fence_report *report = report_of(module);
    const struct ptx_fence_variable *v = report ? ptx_fence_report_variable(report, name) : NULL;

    if (!v)
        return false;
    *address = module->variables + v->offset;
    *size = v->size;
    return true;
}
