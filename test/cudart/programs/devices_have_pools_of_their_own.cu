// Each device has a default memory pool. cudaMallocAsync takes from that of its stream's device.
#include "devices.h"

int main()
{
    cudaMemPool_t pool[2];
    cudaStream_t stream[2];
    cudaPointerAttributes about;
    int *at[2], got[2];

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaDeviceGetDefaultMemPool(&pool[d], d));
        MUST(cudaStreamCreate(&stream[d]));
    }
    HOLDS(pool[0] != pool[1]); //> pool[0] != pool[1]: yes
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(1 - d)); // the stream's device counts
        MUST(cudaMallocAsync(&at[d], 4096, stream[d]));
        MUST(cudaSetDevice(d));
        MUST(cudaPointerGetAttributes(&about, at[d]));
        MUST(cudaMemsetAsync(at[d], d + 1, 4096, stream[d]));
        MUST(cudaMemcpyAsync(&got[d], at[d] + 1000, 4, cudaMemcpyDeviceToHost, stream[d]));
        MUST(cudaFreeAsync(at[d], stream[d]));
        MUST(cudaStreamSynchronize(stream[d]));
        printf("device %d: %x\n", about.device, got[d]); //> device 0: 1010101
                                                         //> device 1: 2020202
    }
    SHOW(cudaDeviceGetDefaultMemPool(&pool[0], 1000)); //> cudaDeviceGetDefaultMemPool(&pool[0], 1000): cudaErrorInvalidDevice
}
