// A device that is reset gets access to another's memory again at once, whatever it had reached before.
#include "devices.h"

enum { BLOCKS = 200, COUNT = 1024, RESETS = 3 };

int main()
{
    int *pinned[BLOCKS], *device, back[COUNT];

    reach_needed();
    for (int i = 0; i < BLOCKS; i++)
        MUST(cudaMallocHost(&pinned[i], COUNT * sizeof(int)));
    MUST(cudaMalloc(&device, sizeof(back)));
    MUST(cudaSetDevice(1));
    for (int i = 0; i < RESETS; i++) {
        MUST(cudaDeviceEnablePeerAccess(0, 0));
        fill<<<COUNT / 256, 256>>>(device, i, COUNT);
        MUST(cudaDeviceSynchronize());
        MUST(cudaMemcpy(back, device, sizeof(back), cudaMemcpyDefault));
        printf("%d %d\n", back[0], back[COUNT - 1]); //> 0 1023
        MUST(cudaDeviceReset());
    } //> 1 1024
    //> 2 1025
}
