// A __managed__ variable is one for the host and the kernels of all devices, and so are copies by its name.
#include "devices.h"

__managed__ int counter = 5;
__managed__ int table[100000];

__global__ void add(int value)
{
    atomicAdd(&counter, value);
    for (int i = threadIdx.x; i < 100000; i += blockDim.x)
        table[i] += value;
}

static void step(int device, int value)
{
    MUST(cudaSetDevice(device));
    add<<<1, 256>>>(value);
    MUST(cudaDeviceSynchronize());
}

int main()
{
    int value = 1000, found = 0;

    two_needed();
    for (int i = 0; i < 100000; i++)
        table[i] = i;
    step(0, 1);
    step(1, 10);
    printf("%d\n", counter); //> 2821
    counter = 0;
    step(1, 1);
    step(0, 10);
    step(1, 100);
    for (int i = 0; i < 100000; i++)
        found += table[i] != i + 122;
    printf("%d, %d wrong\n", counter, found); //> 28416, 0 wrong
    MUST(cudaSetDevice(1));
    MUST(cudaMemcpyToSymbol(counter, &value, sizeof(value)));
    step(0, 0);
    printf("%d\n", counter); //> 1000
    step(1, 1);
    MUST(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    printf("%d\n", value); //> 1256
    MUST(cudaSetDevice(0));
    MUST(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    printf("%d\n", value); //> 1256
}
