/* dependent.h - a programmatic dependent launch, and a kernel that waits for the one before it. */
#ifndef DEPENDENT_H
#define DEPENDENT_H

#include "show.h"

__global__ void step(unsigned *p, unsigned add)
{
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    *p = *p * 3 + add;
}

template <typename... Parameters, typename... Arguments>
static cudaError_t launch(cudaStream_t stream, void (*kernel)(Parameters...),
                          Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = config.blockDim = 1;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

#endif
