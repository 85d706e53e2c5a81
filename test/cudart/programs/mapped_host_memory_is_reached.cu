// Kernels reach mapped host memory by the pointer that the runtime gives for it.
#include "show.h"

__global__ void twice(int *p)
{
    p[threadIdx.x] *= 2;
}

int main()
{
    int *host, *device;
    unsigned flags;

    SHOW(cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped)); //> cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped): cudaSuccess
    for (int i = 0; i < 64; i++)
        host[i] = i;
    SHOW(cudaHostGetDevicePointer(&device, host, 0)); //> cudaHostGetDevicePointer(&device, host, 0): cudaSuccess
    twice<<<1, 64>>>(device);
    MUST(cudaDeviceSynchronize());
    printf("%d %d\n", host[1], host[63]); //> 2 126
    MUST(cudaHostGetFlags(&flags, host));
    HOLDS(flags & cudaHostAllocMapped);   //> flags & cudaHostAllocMapped: yes
    cudaPointerAttributes attributes;
    MUST(cudaPointerGetAttributes(&attributes, host));
    HOLDS(attributes.type == cudaMemoryTypeHost); //> attributes.type == cudaMemoryTypeHost: yes
    SHOW(cudaFreeHost(host)); //> cudaFreeHost(host): cudaSuccess
}
