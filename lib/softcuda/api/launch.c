// Driver calls that launch kernels.
#include <stdlib.h>

#include "softcuda/api/api.h"
#include "softcuda/context/context.h"
#include "softcuda/launch/capture.h"
#include "softcuda/launch/launch.h"
#include "softcuda/stream/order.h"
#include "softcuda/stream/stream.h"

static CUresult launch_submit(struct launch *launch, CUstream handle, void **params, void **extra)
{
    CUcontext context;
    CUresult result = context_current(&context);
    CUstream stream;
    struct op *op;

    if (!result)
        result = stream_of(context, handle, &stream);
    if (!result)
        result = launch_check(stream->context, launch);
    if (!result)
        result = launch_params(launch, params, extra);
    if (result)
        return result;
    if (stream->capture.graph)
        return capture_kernel(stream, launch);
    result = launch_op(stream->context, launch, stream->priority, &op);
    free(launch->params);
    return result ? result : stream_submit(stream, op, NULL);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int dynamic_shared, CUstream stream,
                        void **params, void **extra)
{
    struct launch launch = {.function = function,
                            .grid = {grid_x, grid_y, grid_z},
                            .block = {block_x, block_y, block_z},
                            .dynamic_shared = dynamic_shared};

    return launch_submit(&launch, stream, params, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int dynamic_shared,
                                   CUstream stream, void **params)
{
    struct launch launch = {.function = function,
                            .grid = {grid_x, grid_y, grid_z},
                            .block = {block_x, block_y, block_z},
                            .dynamic_shared = dynamic_shared,
                            .cooperative = true};

    return launch_submit(&launch, stream, params, NULL);
}

static CUresult launch_read(struct launch *launch, CUfunction function,
                            const CUlaunchConfig *config)
{
    CUresult result = CUDA_SUCCESS;

    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    *launch = (struct launch){.function = function,
                              .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                              .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                              .dynamic_shared = config->sharedMemBytes};
    for (unsigned int i = 0; i < config->numAttrs && !result; i++)
        result = launch_attribute(launch, config->attrs[i].id, &config->attrs[i].value);
    return result;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                          void **extra)
{
    struct launch launch;
    CUresult result = launch_read(&launch, function, config);

    return result ? result : launch_submit(&launch, config->hStream, params, extra);
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                      const CUlaunchConfig *config)
{
    struct launch launch;
    CUcontext context;
    CUresult result = context_current(&context);

    if (!result)
        result = launch_read(&launch, function, config);
    if (result)
        return result;
    return clusters ? launch_clusters_at_once(context, &launch, clusters)
                    : CUDA_ERROR_INVALID_VALUE;
}
