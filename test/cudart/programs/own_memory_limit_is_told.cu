// A session's memory limit is the device's memory to the program, and stderr says once that it is the limit
// which an allocation has met.
#include "gshare_cuda.h"
#include "show.h"

int main()
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    cudaDeviceProp properties;
    size_t free, total;
    void *p;

    setvbuf(stdout, nullptr, _IONBF, 0);
    params.mem_limit = 64 << 20;
    if (gs_cuda_attach(&params) != GS_OK)
        return 1;
    MUST(cudaGetDeviceProperties(&properties, 0));
    MUST(cudaMemGetInfo(&free, &total));
    HOLDS(total == 64 << 20); //> total == 64 << 20: yes
    HOLDS(properties.totalGlobalMem == total); //> properties.totalGlobalMem == total: yes
    //> libgshare_cudart: out of memory: 128 MiB wanted; 0 bytes of the session's limit of 64 MiB are in use
    SHOW(cudaMalloc(&p, 128 << 20)); //> cudaMalloc(&p, 128 << 20): cudaErrorMemoryAllocation
    SHOW(cudaMalloc(&p, 96 << 20)); //> cudaMalloc(&p, 96 << 20): cudaErrorMemoryAllocation
    SHOW(cudaMalloc(&p, 32 << 20)); //> cudaMalloc(&p, 32 << 20): cudaSuccess
}
