// A launch whose grid or block cannot be is refused as an invalid value; the next launch works.
#include "show.h"

__global__ void set(int *p)
{
    *p = 5;
}

int main()
{
    int *p, host;

    MUST(cudaMalloc(&p, 4));
    set<<<0, 1>>>(p);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidValue
    set<<<1, 0>>>(p);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidValue
    set<<<1, 2048>>>(p);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidValue
    set<<<dim3(1, 70000), 1>>>(p);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidValue
    set<<<1, 1, 1 << 20>>>(p);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidValue
    set<<<1, 1>>>(p);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaSuccess
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 5
}
