// Work in a blocking stream begins after all earlier work of the legacy default stream.
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
    for (int round = 1; round <= 5; round++) {
        slow_set<<<1, 1>>>(p, round, 500000);
        copy<<<1, 1, 0, a>>>(p + 1, p);
        copy<<<1, 1, 0, b>>>(p + 2, p);
        MUST(cudaMemcpy(host, p + 1, 8, cudaMemcpyDeviceToHost));
        printf("%d %d\n", host[0], host[1]);
    }
    //> 1 1
    //> 2 2
    //> 3 3
    //> 4 4
    //> 5 5
}
