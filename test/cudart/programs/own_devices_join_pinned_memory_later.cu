// A device that has no room for another one's pinned memory says so, and joins it when it has, at its next kernel.
#include <vector>
#include "devices.h"
#include "said.h"

enum { COUNT = 64 };

__global__ void first(int *at)
{
    *at = 1;
}

__global__ void next(int *at)
{
    at[threadIdx.x] = 100 + threadIdx.x;
}

int main()
{
    std::vector<void *> own;
    int *device, *pinned;
    void *made;

    reach_needed();
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&device, sizeof(int)));
    first<<<1, 1>>>(device);
    MUST(cudaDeviceSynchronize());
    while (cudaMallocHost(&made, 4096) == cudaSuccess) // as many blocks as it may have
        own.push_back(made);
    MUST(cudaSetDevice(0));
    MUST(cudaMallocHost(&pinned, COUNT * sizeof(int)));
    printf("%d\n", said_times("kernels of device 1 do not reach all pinned memory of device 0: GS_ERR_LIMIT")); //> 1
    MUST(cudaSetDevice(1));
    for (void *block : own)
        MUST(cudaFreeHost(block));
    next<<<1, COUNT>>>(pinned);
    MUST(cudaDeviceSynchronize());
    printf("%d %d\n", pinned[0], pinned[COUNT - 1]); //> 100 163
    MUST(cudaFreeHost(pinned));
}
