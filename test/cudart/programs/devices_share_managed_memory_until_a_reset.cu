// After the reset of a device the other's managed memory is as it was, and both share what is allocated anew.
#include "devices.h"

__global__ void add(int *word)
{
    atomicAdd(word, 1);
}

static int together(int *word)
{
    for (int device = 0; device < 2; device++) {
        MUST(cudaSetDevice(device));
        add<<<10, 100>>>(word);
        MUST(cudaDeviceSynchronize());
    }
    return *word;
}

int main()
{
    int *of_first, *of_second;

    reach_needed();
    MUST(cudaMallocManaged(&of_first, sizeof(int)));
    MUST(cudaSetDevice(1));
    MUST(cudaMallocManaged(&of_second, sizeof(int)));
    *of_first = *of_second = 0;
    printf("%d %d\n", together(of_first), together(of_second)); //> 2000 2000
    MUST(cudaSetDevice(0));
    MUST(cudaDeviceReset());
    printf("%d\n", *of_second); //> 2000
    MUST(cudaMallocManaged(&of_first, sizeof(int)));
    *of_first = 5;
    printf("%d %d\n", together(of_first), together(of_second)); //> 2005 4000
}
