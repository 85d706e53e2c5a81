// Pinned memory is set from every device, whichever was current when it was allocated.
#include "devices.h"

int main()
{
    cudaStream_t stream[2];
    int *pinned;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
    }
    MUST(cudaSetDevice(0));
    MUST(cudaMallocHost(&pinned, 4096));
    for (int d = 0; d < 2; d++) {
        MUST(cudaMemsetAsync(pinned, d + 1, 4096, stream[d]));
        MUST(cudaStreamSynchronize(stream[d]));
        printf("%x %x\n", pinned[0], pinned[1023]); //> 1010101 1010101
                                                    //> 2020202 2020202
    }
    MUST(cudaSetDevice(1));
    SHOW(cudaMemset(pinned, 3, 4096)); //> cudaMemset(pinned, 3, 4096): cudaSuccess
    MUST(cudaDeviceSynchronize());
    printf("%x\n", pinned[1023]); //> 3030303
}
