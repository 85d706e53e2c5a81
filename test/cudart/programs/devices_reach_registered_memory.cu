// Memory that the program has registered is reached by kernels of each device that asks for its address.
#include <stdlib.h>

#include "devices.h"

enum { COUNT = 100000 };

int main()
{
    int *mine = (int *)malloc(COUNT * sizeof(int)), *at[2], wrong = 0;

    two_needed();
    MUST(cudaHostRegister(mine, COUNT * sizeof(int), cudaHostRegisterPortable | cudaHostRegisterMapped));
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        SHOW(cudaHostGetDevicePointer(&at[d], mine, 0)); //> cudaHostGetDevicePointer(&at[d], mine, 0): cudaSuccess
                                                         //> cudaHostGetDevicePointer(&at[d], mine, 0): cudaSuccess
    }
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        fill<<<(COUNT + 255) / 256, 256>>>(at[d], 10 * (d + 1), COUNT);
        MUST(cudaDeviceSynchronize());
        for (int i = 0; i < COUNT; i++)
            wrong += mine[i] != 10 * (d + 1) + i;
    }
    printf("%d wrong\n", wrong); //> 0 wrong
    MUST(cudaSetDevice(0));
    fill<<<(COUNT + 255) / 256, 256>>>(at[0], 5, COUNT);
    MUST(cudaSetDevice(1));
    SHOW(cudaHostUnregister(mine)); //> cudaHostUnregister(mine): cudaSuccess
    for (int i = 0; i < COUNT; i++)
        wrong += mine[i] != 5 + i;
    printf("%d wrong\n", wrong); //> 0 wrong
    free(mine);
}
