/* A sum over a block's tree in shared memory, one atomic per block. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL reduce_shared(const int *in, int *out, int n)
{
    __shared__ int part[256];
    int sum = 0;

    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd((unsigned *)out, (unsigned)part[0]);
}
#else
CASE(reduce_shared)
{
    int n = 50021, want = 0, got, *in = scratch(4 * n);

    for (int i = 0; i < n; i++)
        want += in[i] = (int)(random_u32() % 2001) - 1000;
    device_ptr din = upload(in, 4 * n), dout = zeros(4);
    RUN("reduce_shared", 7, 256, &din, &dout, &n);
    download(&got, dout, 4);
    expect_u32((uint32_t *)&got, (uint32_t *)&want, 1);
}
#endif
