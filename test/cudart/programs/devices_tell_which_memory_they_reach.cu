// The address of memory for the current device is NULL, unless the device has the memory or peer access
// to it. Whose memory it is tells each.
#include "devices.h"

static void tell(const void *at, int current)
{
    cudaPointerAttributes about;

    MUST(cudaSetDevice(current));
    MUST(cudaPointerGetAttributes(&about, at));
    printf("device %d, reached by %d: %d %d\n", about.device, current, about.devicePointer == at, about.devicePointer == nullptr);
}

int main()
{
    int *at[2], can = 0;

    two_needed();
    MUST(cudaDeviceCanAccessPeer(&can, 1, 0));
    if (!can) {
        printf("no peer access\n");
        exit(77);
    }
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&at[d], 4096));
    }
    tell(at[0], 0); //> device 0, reached by 0: 1 0
    tell(at[0], 1); //> device 0, reached by 1: 0 1
    tell(at[1], 0); //> device 1, reached by 0: 0 1
    tell(at[1], 1); //> device 1, reached by 1: 1 0
    MUST(cudaDeviceEnablePeerAccess(0, 0)); // of device 1
    tell(at[0], 1); //> device 0, reached by 1: 1 0
    tell(at[1], 0); //> device 1, reached by 0: 0 1
}
