/* Counts by atomics: in global memory, and first in shared memory. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL histogram_global(const unsigned char *in, unsigned *bins, int n)
{
    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
}

KERNEL histogram_shared(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned own[256];

    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], own[i]);
}
#else
CASE(histogram)
{
    int n = 40000;
    unsigned char *in = scratch(n);
    uint32_t want[256] = {0}, got[256];

    for (int i = 0; i < n; i++)
        want[in[i] = (unsigned char)(random_u32() & random_u32())]++;
    device_ptr din = upload(in, n), bins = zeros(1024);
    RUN("histogram_global", 6, 128, &din, &bins, &n);
    download(got, bins, 1024);
    expect_u32(got, want, 256);
    bins = zeros(1024);
    RUN("histogram_shared", 6, 96, &din, &bins, &n);
    download(got, bins, 1024);
    expect_u32(got, want, 256);
}
#endif
