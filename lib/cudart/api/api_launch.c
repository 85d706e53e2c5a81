/* api_launch.c - launches. <<<>>> adds to gs_launch what launch() does before and after it. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/module.h"
#include "cudart/state/stream.h"

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

static cudaError_t launch(struct kernel *kernel, const gs_launch_config *config, size_t shared,
                          void **args, cudaStream_t stream_handle, bool per_thread)
{
    struct stream *stream;
    gs_kernel handle;
    gs_status status;
    cudaError_t error;

    if (kernel == NULL)
        return error_record(cudaErrorInvalidResourceHandle);
    error = kernel_use(kernel, &handle);
    if (error == cudaSuccess)
        error = stream_find(stream_handle, per_thread, &stream);
    if (error != cudaSuccess)
        return error_record(error);
    if (shared > dynamic_smem_max(kernel))
        return error_record(cudaErrorInvalidValue);
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_launch(stream->handle, handle, config, args);
    if (status != GS_OK)
        return error_record(status == GS_ERR_LAUNCH_CONFIG ? config_error(kernel, config)
                                                           : stream_error(stream, status));
    stream_leave(stream);
    return cudaSuccess;
}

static cudaError_t launch_plain(struct kernel *kernel, dim3 grid, dim3 block, void **args,
                                size_t shared, cudaStream_t stream, bool per_thread,
                                bool cooperative)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;

    config.grid = (gs_dim3){grid.x, grid.y, grid.z};
    config.block = (gs_dim3){block.x, block.y, block.z};
    config.dynamic_smem = (unsigned)shared;
    config.cooperative = cooperative;
    return launch(kernel, &config, shared, args, stream, per_thread);
}

/* ---- What stubs call ------------------------------------------------------------------------- */

CUDART_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                          size_t shared, cudaStream_t stream)
{
    return launch_plain((struct kernel *)kernel, grid, block, args, shared, stream, false, false);
}

CUDART_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                               void **args, size_t shared, cudaStream_t stream)
{
    return launch_plain((struct kernel *)kernel, grid, block, args, shared, stream, true, false);
}

/* ---- What programs call ---------------------------------------------------------------------- */

CUDART_API cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream)
{
    return launch_plain(kernel_find(stub), grid, block, args, shared, stream, false, false);
}

CUDART_API cudaError_t cudaLaunchKernel_ptsz(const void *stub, dim3 grid, dim3 block, void **args,
                                             size_t shared, cudaStream_t stream)
{
    return launch_plain(kernel_find(stub), grid, block, args, shared, stream, true, false);
}

CUDART_API cudaError_t cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block,
                                                   void **args, size_t shared, cudaStream_t stream)
{
    return launch_plain(kernel_find(stub), grid, block, args, shared, stream, false, true);
}

CUDART_API cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *stub, dim3 grid, dim3 block,
                                                        void **args, size_t shared,
                                                        cudaStream_t stream)
{
    return launch_plain(kernel_find(stub), grid, block, args, shared, stream, true, true);
}

/* Attributes that only hint at speed are taken and have no effect. */
static cudaError_t launch_extended(const cudaLaunchConfig_t *config, const void *stub, void **args,
                                   bool per_thread)
{
    bool cooperative = false;

    if (config == NULL)
        return error_record(cudaErrorInvalidValue);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *attribute = &config->attrs[i];

        switch (attribute->id) {
        case cudaLaunchAttributeCooperative:
            cooperative = attribute->val.cooperative != 0;
            break;
        case cudaLaunchAttributeClusterDimension:
            if (attribute->val.clusterDim.x * attribute->val.clusterDim.y *
                    attribute->val.clusterDim.z !=
                1)
                return error_record(error_unsupported("a launch with clusters"));
            break;
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributeSynchronizationPolicy:
        case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        case cudaLaunchAttributeProgrammaticStreamSerialization:
        case cudaLaunchAttributePriority:
        case cudaLaunchAttributeMemSyncDomainMap:
        case cudaLaunchAttributeMemSyncDomain:
        case cudaLaunchAttributePreferredClusterDimension:
        case cudaLaunchAttributePreferredSharedMemoryCarveout:
#ifndef GS_CUDART_12
        case cudaLaunchAttributeNvlinkUtilCentricScheduling:
#endif
            break;
        default: /* events within a launch, updatable nodes */
            return error_record(error_unsupported("an event or an updatable node in a launch"));
        }
    }
    return launch_plain(kernel_find(stub), config->gridDim, config->blockDim, args,
                        config->dynamicSmemBytes, config->stream, per_thread, cooperative);
}

CUDART_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *stub,
                                           void **args)
{
    return launch_extended(config, stub, args, false);
}

CUDART_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *stub,
                                                void **args)
{
    return launch_extended(config, stub, args, true);
}
