/* launch.c - see launch.h. <<<>>> adds to gs_launch what kernel_launch does before and after it. */
#include "cudart/state/launch.h"

#include "cudart/base/report.h"

#define SMEM_DEFAULT_MAX (48u << 10) /* a block's, unless cudaFuncSetAttribute allows more */

static unsigned dynamic_smem_max(const struct kernel *kernel)
{
    unsigned allowed = atomic_load_explicit(&kernel->dynamic_smem_max, memory_order_relaxed);

    if (allowed != 0)
        return allowed;
    return kernel->desc.static_smem < SMEM_DEFAULT_MAX ? SMEM_DEFAULT_MAX - kernel->desc.static_smem
                                                       : 0;
}

/* The runtime of CUDA 13 passes the driver's CUDA_ERROR_INVALID_VALUE on for a shape that cannot
 * be; that of CUDA 12 has a code for it. */
#ifdef GS_CUDART_12
#define SHAPE_ERROR cudaErrorInvalidConfiguration
#else
#define SHAPE_ERROR cudaErrorInvalidValue
#endif

/* CUDA tells apart what GS_ERR_LAUNCH_CONFIG says in one. */
static cudaError_t config_error(const struct kernel *kernel, const gs_launch_config *config)
{
    uint64_t threads = (uint64_t)config->block.x * config->block.y * config->block.z;

    if (threads == 0 || threads > device.desc.max_threads_per_block)
        return SHAPE_ERROR;
    if (threads > kernel->desc.max_threads_per_block)
        return cudaErrorLaunchOutOfResources;
    if (!config->cooperative)
        return SHAPE_ERROR;
    report_once("kernel %s: %s", kernel->name, gs_last_error_message());
    return cudaErrorCooperativeLaunchTooLarge;
}

cudaError_t kernel_launch(struct kernel *kernel, const gs_launch_config *config, size_t shared,
                          void **args, struct stream *stream)
{
    gs_kernel handle;
    gs_status status;
    cudaError_t error = kernel_use(kernel, &handle);

    if (error != cudaSuccess)
        return error;
    if (shared > dynamic_smem_max(kernel))
        return cudaErrorInvalidValue;
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_launch(stream->handle, handle, config, args);
    if (status != GS_OK)
        return status == GS_ERR_LAUNCH_CONFIG ? config_error(kernel, config)
                                              : stream_error(stream, status);
    stream_leave(stream);
    return cudaSuccess;
}
