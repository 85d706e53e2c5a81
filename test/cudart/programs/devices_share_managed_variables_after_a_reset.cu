// A __managed__ variable keeps its value, and is one for host and devices, whichever device is reset.
#include "devices.h"

__managed__ int counter = 5;

__global__ void add(int value)
{
    counter += value;
}

static void step(int device, int value)
{
    MUST(cudaSetDevice(device));
    add<<<1, 1>>>(value);
    MUST(cudaDeviceSynchronize());
}

static void reset(int device)
{
    MUST(cudaSetDevice(device));
    MUST(cudaDeviceReset());
}

int main()
{
    int value = 0;

    two_needed();
    step(0, 1);
    step(1, 10);
    reset(1);
    printf("%d\n", counter); //> 16
    step(1, 10);
    reset(0);
    printf("%d\n", counter); //> 26
    counter = 100;
    step(1, 1);
    step(0, 10);
    step(1, 100);
    printf("%d\n", counter); //> 211
    counter = 7;
    reset(1);
    step(0, 1);
    step(1, 10);
    printf("%d\n", counter); //> 18
    MUST(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    printf("%d\n", value); //> 18
}
