// Managed memory that cannot be copied to the device, because the session has as many host blocks as it may, stays as
// the host has written it. Work that comes when there are fewer has it.
#include <vector>
#include "show.h"

enum { COUNT = 1 << 20 };

__global__ void add(int *at, int value, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        at[i] += value;
}

// How many words are not their index and the value.
static int wrong(const int *at, int value)
{
    int found = 0;

    for (int i = 0; i < COUNT; i++)
        found += at[i] != i + value;
    return found;
}

int main()
{
    std::vector<void *> blocks;
    int *at;
    void *made;

    setvbuf(stdout, nullptr, _IONBF, 0);
    MUST(cudaMallocManaged(&at, COUNT * sizeof(int)));
    cudaFuncAttributes attributes;
    MUST(cudaFuncGetAttributes(&attributes, add)); // loads it
    for (int i = 0; i < COUNT; i++)
        at[i] = i;
    //> libgshare_cudart: out of host memory: the session has 1024 host blocks, the limit
    while (cudaMallocHost(&made, 4096) == cudaSuccess)
        blocks.push_back(made);
    cudaGetLastError();

    add<<<64, 256>>>(at, 1, COUNT);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorMemoryAllocation
    printf("%d wrong\n", wrong(at, 0)); //> 0 wrong
    for (int i = 0; i < COUNT; i++)
        at[i] += 10;
    add<<<64, 256>>>(at, 1, COUNT);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorMemoryAllocation
    for (void *block : blocks)
        MUST(cudaFreeHost(block));
    add<<<64, 256>>>(at, 100, COUNT);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    printf("%d wrong\n", wrong(at, 110)); //> 0 wrong
    MUST(cudaFree(at));
}
