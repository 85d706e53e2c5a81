// stderr says once that it is the user's limit which pinned memory has met (test_programs sets it).
#include "show.h"

int main()
{
    void *p;

    setvbuf(stdout, nullptr, _IONBF, 0);
    SHOW(cudaMallocHost(&p, 32 << 20)); //> cudaMallocHost(&p, 32 << 20): cudaSuccess
    //> libgshare_cudart: out of host memory: 48 MiB of host memory wanted, the user's sessions have 32 MiB of 64 MiB
    SHOW(cudaMallocHost(&p, 48 << 20)); //> cudaMallocHost(&p, 48 << 20): cudaErrorMemoryAllocation
    SHOW(cudaMallocHost(&p, 40 << 20)); //> cudaMallocHost(&p, 40 << 20): cudaErrorMemoryAllocation
    SHOW(cudaMallocHost(&p, 16 << 20)); //> cudaMallocHost(&p, 16 << 20): cudaSuccess
}
