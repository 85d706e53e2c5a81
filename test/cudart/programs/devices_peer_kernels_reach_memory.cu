// A device that has peer access reaches the other's memory by kernels: what was allocated before and after,
// large and small, until it gives the access up.
#include "devices.h"

enum { LARGE = 1 << 20, SMALL = 100 };

__global__ void add(int *to, const int *from, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        to[i] += from[i];
}

__global__ void count_up(int *word)
{
    atomicAdd(word, 1);
}

static int wrong(const int *at, int value, int step, int count)
{
    int *words = (int *)malloc(count * sizeof(int)), found = 0;

    MUST(cudaMemcpy(words, at, count * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        found += words[i] != value + step * i;
    free(words);
    return found;
}

// Device 0 reads and writes memory of device 1.
static void reach(int *here, int *there, int count)
{
    MUST(cudaSetDevice(1));
    fill<<<(count + 255) / 256, 256>>>(there, 7, count);
    MUST(cudaDeviceSynchronize());
    MUST(cudaSetDevice(0));
    fill<<<(count + 255) / 256, 256>>>(here, 1000, count);
    add<<<(count + 255) / 256, 256>>>(here, there, count);
    add<<<(count + 255) / 256, 256>>>(there, here, count);
    MUST(cudaDeviceSynchronize());
    printf("%d, %d wrong\n", wrong(here, 1007, 2, count), wrong(there, 1014, 3, count));
}

int main()
{
    int *here, *before, *after, *little, *again, can = 0, back = 0, sum = 0;

    two_needed();
    MUST(cudaDeviceCanAccessPeer(&can, 0, 1));
    MUST(cudaDeviceCanAccessPeer(&back, 1, 0));
    if (!can || !back) {
        printf("no peer access\n");
        exit(77);
    }
    MUST(cudaDeviceCanAccessPeer(&can, 1, 1));
    printf("%d\n", can); //> 0
    SHOW(cudaDeviceCanAccessPeer(&can, 0, 1000)); //> cudaDeviceCanAccessPeer(&can, 0, 1000): cudaErrorInvalidDevice
    MUST(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 1));
    printf("%d\n", can); //> 1

    MUST(cudaMalloc(&here, LARGE * sizeof(int)));
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&before, LARGE * sizeof(int)));
    MUST(cudaMalloc(&little, SMALL * sizeof(int)));
    MUST(cudaSetDevice(0));
    SHOW(cudaDeviceDisablePeerAccess(1)); //> cudaDeviceDisablePeerAccess(1): cudaErrorPeerAccessNotEnabled
    SHOW(cudaDeviceEnablePeerAccess(1, 1)); //> cudaDeviceEnablePeerAccess(1, 1): cudaErrorInvalidValue
    SHOW(cudaDeviceEnablePeerAccess(0, 0)); //> cudaDeviceEnablePeerAccess(0, 0): cudaErrorPeerAccessUnsupported
    SHOW(cudaDeviceEnablePeerAccess(1000, 0)); //> cudaDeviceEnablePeerAccess(1000, 0): cudaErrorInvalidDevice
    SHOW(cudaDeviceEnablePeerAccess(1, 0)); //> cudaDeviceEnablePeerAccess(1, 0): cudaSuccess
    SHOW(cudaDeviceEnablePeerAccess(1, 0)); //> cudaDeviceEnablePeerAccess(1, 0): cudaErrorPeerAccessAlreadyEnabled
    reach(here, before, LARGE); //> 0, 0 wrong
    reach(here, little, SMALL); //> 0, 0 wrong

    // What is allocated later is reached too, and what takes the place of memory that was freed.
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&after, LARGE * sizeof(int)));
    reach(here, after, LARGE); //> 0, 0 wrong
    for (int i = 0; i < 8; i++) {
        MUST(cudaSetDevice(i % 2));
        MUST(cudaFree(before));
        MUST(cudaSetDevice(1));
        MUST(cudaMalloc(&before, (LARGE + i * 4096) * sizeof(int)));
    }
    reach(here, before, LARGE); //> 0, 0 wrong

    // It goes one way, until the other device has access too.
    MUST(cudaSetDevice(1));
    SHOW(cudaDeviceDisablePeerAccess(0)); //> cudaDeviceDisablePeerAccess(0): cudaErrorPeerAccessNotEnabled
    SHOW(cudaDeviceEnablePeerAccess(0, 0)); //> cudaDeviceEnablePeerAccess(0, 0): cudaSuccess
    MUST(cudaMemset(little, 0, sizeof(int)));
    MUST(cudaDeviceSynchronize()); // the other device does not wait for it
    for (int device = 0; device < 2; device++) {
        MUST(cudaSetDevice(device));
        count_up<<<10, 100>>>(little);
        MUST(cudaDeviceSynchronize());
        count_up<<<10, 100>>>(here);
        MUST(cudaDeviceSynchronize());
    }
    MUST(cudaMemcpy(&sum, little, sizeof(int), cudaMemcpyDefault));
    printf("%d\n", sum); //> 2000

    MUST(cudaSetDevice(0));
    SHOW(cudaDeviceDisablePeerAccess(1)); //> cudaDeviceDisablePeerAccess(1): cudaSuccess
    SHOW(cudaDeviceDisablePeerAccess(1)); //> cudaDeviceDisablePeerAccess(1): cudaErrorPeerAccessNotEnabled
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&again, LARGE * sizeof(int)));
    MUST(cudaFree(after));
    MUST(cudaSetDevice(0));
    SHOW(cudaDeviceEnablePeerAccess(1, 0)); //> cudaDeviceEnablePeerAccess(1, 0): cudaSuccess
    reach(here, again, LARGE); //> 0, 0 wrong
    reach(here, before, LARGE); //> 0, 0 wrong
    MUST(cudaFree(here));
    MUST(cudaFree(again));
    MUST(cudaFree(before));
    MUST(cudaFree(little));
    printf("done\n"); //> done
}
