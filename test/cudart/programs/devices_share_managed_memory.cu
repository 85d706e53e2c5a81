// Managed memory is reached by the host and by kernels of each device, whichever has allocated it, small and large.
#include "devices.h"

enum { SMALL = 10, LARGE = 3 << 20 };

__global__ void add(int *at, int value, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        at[i] += value;
}

// How many words are not what the two devices and the host in turn have made of them.
static int wrong(int *at, int count)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        at[i] = i;
    for (int round = 0; round < 3; round++) {
        for (int device = 0; device < 2; device++) {
            MUST(cudaSetDevice(device));
            add<<<64, 256>>>(at, device + 1, count);
            MUST(cudaDeviceSynchronize());
        }
        for (int i = 0; i < count; i += 1000)
            at[i] += 100;
    }
    for (int i = 0; i < count; i++)
        found += at[i] != i + 9 + (i % 1000 == 0 ? 300 : 0);
    return found;
}

int main()
{
    int *of_first, *of_second, *later, *freed;

    reach_needed();
    MUST(cudaMallocManaged(&of_first, LARGE * sizeof(int)));
    MUST(cudaMallocManaged(&freed, SMALL * sizeof(int)));
    MUST(cudaSetDevice(1));
    MUST(cudaMallocManaged(&of_second, SMALL * sizeof(int)));
    printf("%d wrong\n", wrong(of_first, LARGE)); //> 0 wrong
    printf("%d wrong\n", wrong(of_second, SMALL)); //> 0 wrong
    printf("%d wrong\n", wrong(freed, SMALL)); //> 0 wrong

    // What is allocated later, also where freed memory was.
    MUST(cudaFree(freed));
    MUST(cudaSetDevice(0));
    MUST(cudaMallocManaged(&later, SMALL * sizeof(int)));
    printf("%d wrong\n", wrong(later, SMALL)); //> 0 wrong
    MUST(cudaFree(later));
    MUST(cudaFree(of_first));
    MUST(cudaMallocManaged(&of_first, LARGE * sizeof(int)));
    printf("%d wrong\n", wrong(of_first, LARGE)); //> 0 wrong
    SHOW(cudaFree(of_first)); //> cudaFree(of_first): cudaSuccess
    SHOW(cudaFree(of_second)); //> cudaFree(of_second): cudaSuccess
}
