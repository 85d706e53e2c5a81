// Driver calls about contexts, green contexts included.
#include "softcuda/context/context.h"
#include "softcuda/api/api.h"
#include "softcuda/api/more.h"
#include "softcuda/engine/engine.h"
#include "softcuda/lifecycle/green.h"
#include "softcuda/lifecycle/lifecycle.h"

enum { CONTEXT_API_VERSION = 3020 };

// ---- The primary context

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult result = device_use(device);

    if (result)
        return result;
    return context ? context_primary_retain(context) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult result = device_check(device);

    return result ? result : context_primary_release();
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    CUresult result = device_check(device);

    return result ? result : context_primary_reset();
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
    CUresult result = device_check(device);

    return result ? result : context_primary_set_flags(flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    CUresult result = device_check(device);
    uint32_t known;
    bool alive;

    if (result)
        return result;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    context_primary_state(&known, &alive);
    *flags = known;
    *active = alive;
    return CUDA_SUCCESS;
}

// ---- Contexts of one's own

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    CUresult result = device_use(device);

    if (result)
        return result;
    if (!context || flags & ~CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    return context_new(context, flags);
}

// Execution affinity belongs to MPS, which this device does not have.
CUresult cuCtxCreate_v3(CUcontext *context, void *affinities, int count, unsigned int flags,
                        CUdevice device)
{
    if (affinities || count)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, void *params, unsigned int flags, CUdevice device)
{
    if (params)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    CUresult result = device_ready();

    return result ? result : context_free(context);
}

// ---- The calling thread's current context

CUresult cuCtxSetCurrent(CUcontext context)
{
    return context_set(context);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    CUresult result = device_ready();
    CUcontext found;

    if (result)
        return result;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = context_current_any(&found) ? NULL : found;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    return context_push(context);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    return context_pop(context);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    CUcontext context;
    CUresult result = context_current_any(&context);

    if (result)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = device_used();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
    CUcontext context;
    CUresult result = context_current_any(&context);

    if (result)
        return result;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
    CUresult result = device_ready();

    if (result)
        return result;
    result = context ? context_check(context) : context_current_any(&context);
    if (result)
        return result;
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = CONTEXT_API_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : engine_wait_context(context, true);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (least)
        *least = DEVICE_LEAST_PRIORITY;
    if (greatest)
        *greatest = DEVICE_GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : context_set_limit(context->root, limit, value);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    CUcontext context;
    CUresult result = context_current(&context);
    uint64_t found;

    if (result)
        return result;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    result = context_get_limit(context->root, limit, &found);
    if (!result)
        *value = found;
    return result;
}

// ---- Green contexts

CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc desc, CUdevice device,
                          unsigned int flags)
{
    CUresult result = device_use(device);
    uint32_t primary_flags;
    bool active;

    if (result)
        return result;
    if (!green || !desc || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    context_primary_state(&primary_flags, &active);
    return active ? green_new(green, desc) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuGreenCtxDestroy(CUgreenCtx green)
{
    CUresult result = device_ready();

    return result ? result : green_free(green);
}

CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green)
{
    CUresult result = device_ready();

    if (!result)
        result = green_check(green);
    if (result)
        return result;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = green_context(green);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned int flags,
                                int priority)
{
    CUresult result = device_ready();

    if (!result)
        result = green_check(green);
    if (result)
        return result;
    if (!stream || flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    result = atomic_load(&green_context(green)->root->error);
    return result ? result : stream_new(green_context(green), flags, priority, stream);
}
