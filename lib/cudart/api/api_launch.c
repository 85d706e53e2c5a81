/* api_launch.c - launches. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/state/launch.h"

static cudaError_t launch(struct kernel *kernel, const gs_launch_config *config, size_t shared,
                          void **args, cudaStream_t stream_handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error;

    if (kernel == NULL)
        return error_record(cudaErrorInvalidResourceHandle);
    error = stream_find(stream_handle, per_thread, &stream);
    if (error != cudaSuccess)
        return error_record(error);
    if (stream_capturing(stream))
        return error_record(capture_launch(stream, kernel, config, shared, args));
    return error_record(kernel_launch(kernel, config, shared, args, stream));
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
