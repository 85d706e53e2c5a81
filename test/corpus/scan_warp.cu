/* Scans within warps by shuffles, and by segments with lanes that left early. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL scan_warp(const int *in, int *out, int n)
{
    int i = INDEX, lane = threadIdx.x % 32;
    if (i >= n)
        return;
    unsigned mask = __activemask();
    int v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(mask, v, d);
        if (lane >= d)
            v += other;
    }
    out[i] = v;
}

KERNEL scan_segments(const int *in, int *out)
{
    int v = in[threadIdx.x], lane = threadIdx.x % 8;
    for (int d = 1; d < 8; d *= 2) {
        int other = __shfl_up_sync(0xffffffffu, v, d, 8);
        if (lane >= d)
            v += other;
    }
    out[threadIdx.x] = v + __shfl_sync(0xffffffffu, v, 7, 8) * 1000;
}
#else
CASE(scan_warp)
{
    int n = 1000, *in = scratch(4 * n), *want = scratch(4 * n), *got = scratch(4 * n);

    for (int i = 0; i < n; i++) {
        in[i] = (int)(random_u32() % 100);
        want[i] = in[i] + (i % 32 ? want[i - 1] : 0);
    }
    device_ptr din = upload(in, 4 * n), dout = zeros(4 * n);
    RUN("scan_warp", 8, 128, &din, &dout, &n);
    download(got, dout, 4 * n);
    expect_bytes(got, want, 4 * n);
    RUN("scan_segments", 1, 64, &din, &dout);
    download(got, dout, 4 * 64);
    for (int i = 0; i < 64; i++) {
        int sum = 0, all = 0;
        for (int k = i / 8 * 8; k < i / 8 * 8 + 8; k++) {
            all += in[k];
            sum += k <= i ? in[k] : 0;
        }
        want[i] = sum + all * 1000;
    }
    expect_bytes(got, want, 4 * 64);
}
#endif
