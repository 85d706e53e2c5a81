/* A reduction in one launch: blocks count themselves, and the last one adds up what the others left. */
#include "corpus.h"

#ifdef DEVICE_CODE
__device__ unsigned arrived;

KERNEL last_block(const int *in, volatile long long *partial, long long *out, int n)
{
    __shared__ long long s[128];
    __shared__ bool last;
    long long sum = 0;

    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(&arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            sum += partial[i];
        *out = sum;
    }
}
#else
CASE(last_block)
{
    int n = 30000, *in = scratch(4 * n);
    int64_t want = 0, got;

    for (int i = 0; i < n; i++)
        want += in[i] = (int)random_u32();
    device_ptr din = upload(in, 4 * n), dp = zeros(8 * 40), dout = zeros(8);
    RUN("last_block", 40, 128, &din, &dp, &dout, &n);
    download(&got, dout, 8);
    expect_bytes(&got, &want, 8);
}
#endif
