// A stream allocates from a pool of another device. The memory is of the pool's device, and a stream of
// either frees it.
#include "devices.h"

int main()
{
    enum { N = 1024 };
    cudaStream_t stream[2];
    cudaEvent_t event;
    cudaPointerAttributes about;
    cudaMemPool_t pool;
    unsigned long long used;
    int *at, got;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
    }
    MUST(cudaEventCreate(&event)); // of device 1
    MUST(cudaDeviceGetMemPool(&pool, 1));
    for (int d = 0; d < 2; d++) {
        MUST(cudaMallocFromPoolAsync(&at, N * sizeof(int), pool, stream[0]));
        MUST(cudaPointerGetAttributes(&about, at));
        MUST(cudaStreamSynchronize(stream[0]));
        fill<<<N / 256, 256, 0, stream[1]>>>(at, 100 * d, N);
        MUST(cudaGetLastError());
        MUST(cudaMemcpyAsync(&got, at + 5, sizeof(int), cudaMemcpyDefault, stream[1]));
        MUST(cudaEventRecord(event, stream[1]));
        MUST(cudaStreamWaitEvent(stream[0], event, 0));
        MUST(cudaFreeAsync(at, stream[d]));
        MUST(cudaStreamSynchronize(stream[0]));
        MUST(cudaStreamSynchronize(stream[1]));
        printf("device %d: %d\n", about.device, got); //> device 1: 5
                                                      //> device 1: 105
    }
    MUST(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    printf("%llu bytes in use\n", used); //> 0 bytes in use
}
