// cudaLaunchKernel takes the kernel's address and an array of pointers to arguments.
#include "show.h"

__global__ void fill(int *p, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        p[i] = value + i;
}

static void not_a_kernel() {}

int main()
{
    int *p, value = 7, n = 1000, host[1000], wrong = 0;

    MUST(cudaMalloc(&p, sizeof(host)));
    void *args[] = {&p, &value, &n};
    SHOW(cudaLaunchKernel((const void *)fill, dim3(4), dim3(256), args, 0, 0)); //> cudaLaunchKernel((const void *)fill, dim3(4), dim3(256), args, 0, 0): cudaSuccess
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += host[i] != value + i;
    printf("%d wrong\n", wrong); //> 0 wrong
    SHOW(cudaLaunchKernel((const void *)not_a_kernel, dim3(1), dim3(1), args, 0, 0)); //> cudaLaunchKernel((const void *)not_a_kernel, dim3(1), dim3(1), args, 0, 0): cudaErrorInvalidResourceHandle
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidResourceHandle
}
