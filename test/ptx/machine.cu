/* Machine code with and without what stays in a context; remake says which part each file has. */
#include <stdio.h>

#ifdef PLAIN
__constant__ float factors[4] = {1, 2, 3, 4};
extern "C" __global__ void plain(float *out, const float *in, int n)
{
    __shared__ float tile[128];
    const int t = threadIdx.x;

    tile[t] = t < n ? in[t] : 0;
    __syncthreads();
    out[t] = (tile[127 - t] + 1.f / tile[t]) * factors[t % 4];
}
#endif

#ifdef CALLS
__device__ __noinline__ int thrice(int x)
{
    return 3 * x;
}
extern "C" __global__ void calls(int *out)
{
    *out = thrice(*out);
}
#endif

#ifdef VARIABLE
__device__ int counter;
extern "C" __global__ void counts(int *out)
{
    *out = atomicAdd(&counter, 1);
}
#endif

#ifdef INITIALISED
__device__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void looks(int *out, int i)
{
    *out = table[i & 3];
}
#endif

#ifdef POINTER
typedef int (*function)(int);
__device__ __noinline__ int twice(int x)
{
    return 2 * x;
}
extern "C" __global__ void takes(function *out)
{
    *out = twice;
}
#endif

#ifdef PRINTS
extern "C" __global__ void prints(int n)
{
    printf("%d\n", n);
}
#endif

#ifdef ALLOCATES
extern "C" __global__ void allocates(void **out, int n)
{
    *out = malloc(n);
}
#endif
