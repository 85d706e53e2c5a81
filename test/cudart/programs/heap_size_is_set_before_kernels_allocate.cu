// The limit of the heap that kernels allocate from may be set after the device has been used, until a kernel is launched
// that allocates.
#include "show.h"

__global__ void take(int *got, int count, size_t size)
{
    for (int i = 0; i < count; i++)
        *got += malloc(size) != nullptr;
}

int main()
{
    size_t limit = 0;
    int *got, host;

    MUST(cudaSetDevice(0));
    MUST(cudaMalloc(&got, sizeof(int)));
    MUST(cudaMemset(got, 0, sizeof(int)));
    MUST(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    HOLDS(limit == 8 << 20);                                       //> limit == 8 << 20: yes
    SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64u << 20));  //> cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64u << 20): cudaSuccess
    MUST(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    HOLDS(limit >= 64u << 20);                                     //> limit >= 64u << 20: yes
    take<<<1, 1>>>(got, 40, 1 << 20);
    MUST(cudaMemcpy(&host, got, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d of 40\n", host);                                    //> 40 of 40
    SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128u << 20)); //> cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128u << 20): cudaErrorInvalidValue
}
