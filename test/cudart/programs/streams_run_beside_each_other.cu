// Kernels of two streams run at the same time.
#include "show.h"

__global__ void meet(volatile int *mine, volatile int *other)
{
    *mine = 1;
    while (*other == 0)
        ;
}

int main()
{
    cudaStream_t a, b;
    int *flags;

    MUST(cudaStreamCreate(&a));
    MUST(cudaStreamCreate(&b));
    MUST(cudaMalloc(&flags, 8));
    MUST(cudaMemset(flags, 0, 8));
    meet<<<1, 1, 0, a>>>(flags, flags + 1);
    meet<<<1, 1, 0, b>>>(flags + 1, flags);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
}
