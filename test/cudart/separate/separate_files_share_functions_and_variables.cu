#include "shared.h"

#include <cstdio>

static __device__ int hidden = 10;
static __device__ int own() { return 4; }

__device__ int counter;
__constant__ int table[2] = {7, 8};

static __device__ __noinline__ int negative(int x) { return -x; }
static __device__ __noinline__ int positive(int x) { return x + own() - 4; }
__device__ operation operations[2] = {positive, positive};

__device__ __noinline__ int other_twice(int x)
{
    return 2 * x + own() + larger(0, hidden - 10);
}

static __global__ void fill(int *p, int from)
{
    p[threadIdx.x] = from + (int)threadIdx.x;
    atomicAdd(&counter, hidden);
    if (threadIdx.x == 0)
        operations[1] = negative;
    if (threadIdx.x == 3)
        printf("counted\n");
}

void other_count(int *p, int from)
{
    fill<<<1, 4>>>(p, from);
    cudaDeviceSynchronize();
}
