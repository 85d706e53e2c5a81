// Work in the legacy default stream begins after all earlier work of blocking streams.
#include "show.h"

__global__ void slow_set(volatile int *p, int value, long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
    *p = value;
}

__global__ void copy(int *to, const int *from)
{
    *to = *from;
}

int main()
{
    cudaStream_t a, b;
    int *p, host[2];

    MUST(cudaStreamCreate(&a));
    MUST(cudaStreamCreate(&b));
    MUST(cudaMalloc(&p, 16));
    MUST(cudaMemset(p, 0, 16));
    slow_set<<<1, 1, 0, a>>>(p, 1, 2000000);
    slow_set<<<1, 1, 0, b>>>(p + 1, 2, 2000000);
    copy<<<1, 1>>>(p + 2, p);
    copy<<<1, 1>>>(p + 3, p + 1);
    MUST(cudaMemcpy(host, p + 2, 8, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[1]); //> 1 2
}
