// Host and kernels reach managed memory by one address, in turns.
#include "show.h"

__global__ void twice(int *p, int count)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        p[i] *= 2;
}

int main()
{
    const int count = 1000;
    long sum = 0;
    int *p;

    SHOW(cudaMallocManaged(&p, count * sizeof(int))); //> cudaMallocManaged(&p, count * sizeof(int)): cudaSuccess
    for (int i = 0; i < count; i++)
        p[i] = i;
    for (int turn = 0; turn < 3; turn++) {
        twice<<<1, 64>>>(p, count);
        twice<<<1, 64>>>(p, count);
        MUST(cudaDeviceSynchronize());
        p[turn] += 1;
    }
    for (int i = 0; i < count; i++)
        sum += p[i];
    printf("%ld %d %d %d\n", sum, p[0], p[1], p[999]); //> 31968021 16 68 63936
    SHOW(cudaFree(p)); //> cudaFree(p): cudaSuccess
}
