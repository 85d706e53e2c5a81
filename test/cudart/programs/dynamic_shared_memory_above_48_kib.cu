// More than 48 KiB of dynamic shared memory needs the kernel's attribute.
#include "show.h"

__global__ void reverse(int *out, int n)
{
    extern __shared__ int shared[];

    for (int i = threadIdx.x; i < n; i += blockDim.x)
        shared[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = shared[n - 1 - i];
}

int main()
{
    const int n = 15000; // 60,000 bytes
    static int host[n];
    int *p, wrong = 0;

    MUST(cudaMalloc(&p, sizeof(host)));
    reverse<<<1, 256, sizeof(host)>>>(p, n);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidValue
    MUST(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(host)));
    reverse<<<1, 256, sizeof(host)>>>(p, n);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaSuccess
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += host[i] != n - 1 - i;
    printf("%d wrong\n", wrong); //> 0 wrong
    SHOW(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24)); //> cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24): cudaErrorInvalidValue
}
