// Memory that one stream allocated is used and freed by another, in the order that an event makes,
// and nobody has it before.
#include "pool.h"

__global__ void fill(int *p, int value)
{
    for (int i = 0; i < 2000; i++)
        __threadfence();
    p[threadIdx.x] = value;
}

__global__ void check(int *wrong, const int *p, int value)
{
    for (int i = 0; i < 2000; i++)
        __threadfence();
    if (p[threadIdx.x] != value)
        *wrong = 1;
}

int main()
{
    cudaMemPool_t pool = pool_make(~0ull);
    cudaStream_t from, to;
    cudaEvent_t event;
    int *wrong, host;

    MUST(cudaStreamCreateWithFlags(&from, cudaStreamNonBlocking));
    MUST(cudaStreamCreate(&to));
    MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    MUST(cudaMalloc(&wrong, sizeof(*wrong)));
    MUST(cudaMemset(wrong, 0, sizeof(*wrong)));
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < 60; i++) {
        int *p;

        MUST(cudaMallocFromPoolAsync(&p, 5000, pool, from));
        fill<<<1, 32, 0, from>>>(p, i);
        MUST(cudaEventRecord(event, from));
        MUST(cudaStreamWaitEvent(to, event, 0));
        check<<<1, 32, 0, to>>>(wrong, p, i);
        /* At times in the default stream, whose work comes after that of `to`. */
        MUST(cudaFreeAsync(p, i % 3 == 2 ? 0 : to));
    }
    SHOW(cudaStreamSynchronize(to)); //> cudaStreamSynchronize(to): cudaSuccess
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(&host, wrong, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 0
    HOLDS(pool_tells(pool, USED) == 0); //> pool_tells(pool, USED) == 0: yes
    SHOW(cudaStreamDestroy(from));      //> cudaStreamDestroy(from): cudaSuccess
    SHOW(cudaMemPoolDestroy(pool));     //> cudaMemPoolDestroy(pool): cudaSuccess
}
