// After the reset of the device that had a __managed__ variable first, host and devices go on with one variable.
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

int main()
{
    int value = 0;

    two_needed();
    step(0, 1);
    step(1, 10);
    printf("%d\n", counter); //> 16
    MUST(cudaSetDevice(0));
    MUST(cudaDeviceReset());
    MUST(cudaSetDevice(1));
    counter = 100;
    step(1, 1);
    step(0, 10);
    step(1, 100);
    printf("%d\n", counter); //> 211
    MUST(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    printf("%d\n", value); //> 211
    MUST(cudaDeviceReset());
    step(0, 0);
    counter = 7;
    step(0, 1);
    step(1, 10);
    printf("%d\n", counter); //> 18
}
