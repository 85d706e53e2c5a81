// Where kernels of the current device reach pinned and registered memory, also of another device, and before the
// current one has run a kernel.
#include <stdlib.h>

#include "devices.h"

enum { COUNT = 1 << 16 };

// Kernels of the current device reach the memory where the attributes say; they name device 0.
static bool told(int *memory, int value)
{
    cudaPointerAttributes about;
    int wrong = 0;

    MUST(cudaPointerGetAttributes(&about, memory + 1));
    if (about.type != cudaMemoryTypeHost || about.device != 0 || about.hostPointer != memory + 1 ||
        about.devicePointer == nullptr)
        return false;
    fill<<<COUNT / 256, 256>>>((int *)about.devicePointer - 1, value, COUNT);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++)
        wrong += memory[i] != value + i;
    return wrong == 0;
}

int main()
{
    int *pinned, *registered = (int *)malloc(COUNT * sizeof(int));

    two_needed();
    MUST(cudaSetDevice(0));
    MUST(cudaMallocHost(&pinned, COUNT * sizeof(int)));
    MUST(cudaHostRegister(registered, COUNT * sizeof(int), cudaHostRegisterMapped));
    for (int d = 1; d >= 0; d--) {
        MUST(cudaSetDevice(d));
        HOLDS(told(pinned, 10 * d)); //> told(pinned, 10 * d): yes
        HOLDS(told(registered, 5 * d)); //> told(registered, 5 * d): yes
                                        //> told(pinned, 10 * d): yes
                                        //> told(registered, 5 * d): yes
    }
    MUST(cudaFreeHost(pinned));
    MUST(cudaHostUnregister(registered));
    free(registered);
}
