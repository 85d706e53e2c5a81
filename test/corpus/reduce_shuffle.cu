/* Sum, minimum and maximum by shuffles within warps. */
#include "corpus.h"

#ifdef DEVICE_CODE
__device__ int warp_sum(int v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

KERNEL reduce_shuffle(const int *in, int *out, int n)
{
    __shared__ int sums[32];
    int v = INDEX < n ? in[INDEX] : 0, low = v, high = v;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (int d = 16; d; d /= 2) {
        low = min(low, __shfl_xor_sync(0xffffffffu, low, d));
        high = max(high, __shfl_xor_sync(0xffffffffu, high, d, 32));
    }
    v = warp_sum(v);
    if (lane == 0)
        sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < blockDim.x / 32 ? sums[lane] : 0;
        v = warp_sum(v);
        if (lane == 0)
            atomicAdd(&out[0], v);
    }
    atomicMin(&out[1], low);
    atomicMax(&out[2], high);
}
#else
CASE(reduce_shuffle)
{
    int n = 5000, want[3] = {0, 0, 0}, got[3], *in = scratch(4 * n);

    for (int i = 0; i < n; i++) {
        in[i] = (int)random_u32() % 100000;
        want[0] += in[i];
        want[1] = in[i] < want[1] ? in[i] : want[1];
        want[2] = in[i] > want[2] ? in[i] : want[2];
    }
    device_ptr din = upload(in, 4 * n), dout = zeros(12);
    RUN("reduce_shuffle", 20, 256, &din, &dout, &n);
    download(got, dout, 12);
    expect_bytes(got, want, 12);
}
#endif
