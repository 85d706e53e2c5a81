#include <cuda_runtime.h>

__device__ void choose(cudaGraphConditionalHandle condition, unsigned value)
{
    cudaGraphSetConditional(condition, value);
}
