// cudaFuncGetAttributes knows a kernel's memory and its largest block.
#include "show.h"

__constant__ float table[25], factor;

__global__ void scaled(float *p)
{
    *p = table[threadIdx.x] * factor;
}

__global__ void plain(int *p)
{
    __shared__ int shared[100];

    shared[threadIdx.x % 100] = threadIdx.x;
    __syncthreads();
    *p = shared[0];
}

__global__ void __launch_bounds__(64) bounded(int *p)
{
    *p = 1;
}

static void not_a_kernel() {}

int main()
{
    cudaFuncAttributes a;
    const char *name;

    MUST(cudaFuncGetAttributes(&a, plain));
    HOLDS(a.constSizeBytes == 104);        //> a.constSizeBytes == 104: yes
    HOLDS(a.sharedSizeBytes == 400);       //> a.sharedSizeBytes == 400: yes
    HOLDS(a.maxThreadsPerBlock == 1024);   //> a.maxThreadsPerBlock == 1024: yes
    HOLDS(a.numRegs > 0);                  //> a.numRegs > 0: yes
    HOLDS(a.ptxVersion == 80);             //> a.ptxVersion == 80: yes
    HOLDS(a.binaryVersion >= 80);          //> a.binaryVersion >= 80: yes
    HOLDS(a.maxDynamicSharedSizeBytes == 49152 - 400); //> a.maxDynamicSharedSizeBytes == 49152 - 400: yes
    MUST(cudaFuncGetAttributes(&a, bounded));
    HOLDS(a.maxThreadsPerBlock == 64);     //> a.maxThreadsPerBlock == 64: yes
    MUST(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    MUST(cudaFuncGetAttributes(&a, bounded));
    HOLDS(a.maxDynamicSharedSizeBytes == 60000); //> a.maxDynamicSharedSizeBytes == 60000: yes
    MUST(cudaFuncGetName(&name, (const void *)bounded));
    printf("%s\n", name); //> _Z7boundedPi
    SHOW(cudaFuncGetAttributes(&a, (const void *)not_a_kernel)); //> cudaFuncGetAttributes(&a, (const void *)not_a_kernel): cudaErrorInvalidResourceHandle
    SHOW(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1)); //> cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1): cudaSuccess
}
