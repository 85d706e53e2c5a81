/* Inclusive scans of a block: Hillis and Steele's, and Blelloch's. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL scan_hillis(const unsigned *in, unsigned *out)
{
    __shared__ unsigned a[2][256];
    int t = threadIdx.x, from = 0;

    a[0][t] = in[INDEX];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        a[1 - from][t] = a[from][t] + (t >= d ? a[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[INDEX] = a[from][t];
}

KERNEL scan_blelloch(const unsigned *in, unsigned *out)
{
    __shared__ unsigned a[256];
    int t = threadIdx.x;

    a[t] = in[INDEX];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int i = (t + 1) * d * 2 - 1;
        if (i < 256)
            a[i] += a[i - d];
        __syncthreads();
    }
    if (t == 0)
        a[255] = 0;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        int i = (t + 1) * d * 2 - 1;
        if (i < 256) {
            unsigned x = a[i - d];
            a[i - d] = a[i];
            a[i] += x;
        }
        __syncthreads();
    }
    out[INDEX] = a[t] + in[INDEX];
}
#else
CASE(scan_block)
{
    enum { N = 1024 };
    uint32_t in[N], want[N], got[N];

    for (int i = 0; i < N; i++) {
        in[i] = random_u32();
        want[i] = in[i] + (i % 256 ? want[i - 1] : 0);
    }
    device_ptr din = upload(in, sizeof in), dout = zeros(sizeof in);
    RUN("scan_hillis", N / 256, 256, &din, &dout);
    download(got, dout, sizeof got);
    expect_u32(got, want, N);
    dout = zeros(sizeof in);
    RUN("scan_blelloch", N / 256, 256, &din, &dout);
    download(got, dout, sizeof got);
    expect_u32(got, want, N);
}
#endif
