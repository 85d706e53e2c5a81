// The arguments of a launch are evaluated after its configuration, and may launch kernels.
#include "show.h"

__global__ void add(int *p, int value)
{
    *p += value * blockDim.x;
}

static int *p;

static int launch_another()
{
    add<<<1, 2>>>(p, 100);
    return 1;
}

int main()
{
    int host = 0;

    MUST(cudaMalloc(&p, 4));
    MUST(cudaMemset(p, 0, 4));
    add<<<1, 1>>>(p, launch_another());
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 201
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaSuccess
}
