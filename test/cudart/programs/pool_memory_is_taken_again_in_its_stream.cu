// What is freed in a stream serves the next allocation in that stream, without a wait, and after the
// work before it.
#include "pool.h"

__global__ void fill(int *p, int value)
{
    for (int i = 0; i < 500; i++)
        __threadfence();
    p[threadIdx.x] = value;
}

__global__ void add(int *sum, const int *p)
{
    *sum += p[0] + p[31];
}

int main()
{
    cudaMemPool_t pool = pool_make(~0ull);
    cudaStream_t stream;
    unsigned long long reserved = 0;
    int *p, *sum, host;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocFromPoolAsync(&sum, sizeof(*sum), pool, stream));
    MUST(cudaMemsetAsync(sum, 0, sizeof(*sum), stream));
    for (int i = 0; i < 100; i++) {
        MUST(cudaMallocFromPoolAsync(&p, 3 << 20, pool, stream));
        if (i == 0)
            reserved = pool_tells(pool, RESERVED);
        fill<<<1, 32, 0, stream>>>(p, i);
        add<<<1, 1, 0, stream>>>(sum, p);
        MUST(cudaFreeAsync(p, stream));
    }
    HOLDS(pool_tells(pool, RESERVED) == reserved); //> pool_tells(pool, RESERVED) == reserved: yes
    MUST(cudaMemcpyAsync(&host, sum, sizeof(host), cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("%d\n", host); //> 9900
    MUST(cudaFreeAsync(sum, stream));
    MUST(cudaMemPoolDestroy(pool));
}
