// Kernels of all devices reach pinned memory at the host's address: whichever device was current when it was
// allocated, whether the other device was used before, and with whichever flags.
#include "devices.h"

enum { COUNT = 1 << 18 };

__global__ void add(int *at, int value, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        at[i] += value;
}

static int wrong(const int *at, int value)
{
    int found = 0;

    for (int i = 0; i < COUNT; i++)
        found += at[i] != value + i;
    return found;
}

// The one device fills the memory, the other adds, and copies it in its own stream. Returns whether all is right.
static bool reach(int *pinned, int one)
{
    int *copy, *device, other = 1 - one;

    MUST(cudaSetDevice(one));
    fill<<<COUNT / 256, 256>>>(pinned, 100, COUNT);
    MUST(cudaDeviceSynchronize());
    MUST(cudaSetDevice(other));
    MUST(cudaHostGetDevicePointer(&device, pinned, 0));
    add<<<COUNT / 256, 256>>>(pinned, 20, COUNT);
    MUST(cudaMalloc(&copy, COUNT * sizeof(int)));
    MUST(cudaMemcpyAsync(copy, pinned, COUNT * sizeof(int), cudaMemcpyHostToDevice, 0));
    MUST(cudaMemsetAsync(pinned, 0, COUNT * sizeof(int), 0));
    MUST(cudaMemcpyAsync(pinned, copy, COUNT * sizeof(int), cudaMemcpyDefault, 0));
    add<<<COUNT / 256, 256>>>(pinned, 3, COUNT);
    MUST(cudaDeviceSynchronize());
    MUST(cudaFree(copy));
    return wrong(pinned, 123) == 0 && device == pinned;
}

int main()
{
    const unsigned flags[] = {0, cudaHostAllocPortable, cudaHostAllocMapped};
    cudaPointerAttributes about;
    int *before, *pinned, right = 0;

    reach_needed();
    MUST(cudaMallocHost(&before, COUNT * sizeof(int)));
    HOLDS(reach(before, 0)); //> reach(before, 0): yes
    HOLDS(reach(before, 1)); //> reach(before, 1): yes
    for (int i = 0; i < 6; i++) {
        MUST(cudaSetDevice(i / 3));
        MUST(cudaHostAlloc(&pinned, COUNT * sizeof(int), flags[i % 3]));
        right += reach(pinned, i / 3);
        MUST(cudaSetDevice(i % 2));
        MUST(cudaPointerGetAttributes(&about, pinned + 7));
        right += about.type == cudaMemoryTypeHost && about.device == i / 3 &&
                 about.hostPointer == pinned + 7 && about.devicePointer == pinned + 7;
        MUST(cudaFreeHost(pinned));
    }
    printf("%d right\n", right); //> 12 right
    // Of what was freed another size takes the place.
    for (int i = 0; i < 8; i++) {
        MUST(cudaSetDevice(i % 2));
        MUST(cudaMallocHost(&pinned, (COUNT + (i * 5 % 8) * 300000) * sizeof(int)));
        fill<<<COUNT / 256, 256>>>(pinned, i, COUNT);
        MUST(cudaDeviceSynchronize());
        MUST(cudaSetDevice(1 - i % 2));
        add<<<COUNT / 256, 256>>>(pinned, 10, COUNT);
        MUST(cudaDeviceSynchronize());
        right -= wrong(pinned, i + 10) == 0;
        MUST(cudaSetDevice(i / 2 % 2));
        MUST(cudaFreeHost(pinned));
    }
    // A device that is reset reaches what is of the others.
    for (int i = 0; i < 3; i++) {
        MUST(cudaSetDevice(1));
        MUST(cudaDeviceReset());
        HOLDS(reach(before, 1)); //> reach(before, 1): yes
                                 //> reach(before, 1): yes
                                 //> reach(before, 1): yes
    }
    MUST(cudaFreeHost(before));
    printf("%d right\n", right); //> 4 right
}
