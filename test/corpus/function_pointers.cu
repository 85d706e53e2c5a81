/* Tables of functions in global memory, called with targets that differ within a warp. */
#include "corpus.h"

#ifdef DEVICE_CODE
typedef float (*operation)(float, float);
__device__ float op_add(float a, float b) { return a + b; }
__device__ float op_sub(float a, float b) { return a - b; }
__device__ float op_mul(float a, float b) { return a * b; }
__device__ float op_max(float a, float b) { return a > b ? a : b; }
__device__ operation table[4] = {op_add, op_sub, op_mul, op_max};

struct big {
    int v[6];
};
__device__ __noinline__ big twist(big x, int by)
{
    for (int i = 0; i < 6; i++)
        x.v[i] = x.v[i] * by + i;
    return x;
}

KERNEL calls(const int *which, const float *a, const float *b, float *out, int *more)
{
    int i = INDEX;
    out[i] = table[which[i] & 3](a[i], b[i]);
    big x;
    for (int k = 0; k < 6; k++)
        x.v[k] = which[i] + k;
    if (i % 3)
        x = twist(x, i);
    int sum = 0;
    for (int k = 0; k < 6; k++)
        sum += x.v[k];
    more[i] = sum;
}
#else
CASE(function_pointers)
{
    enum { N = 128 };
    int which[N], more[N], want_more[N];
    float a[N], b[N], want[N], got[N];

    for (int i = 0; i < N; i++) {
        which[i] = (int)(random_u32() % 4);
        a[i] = random_f32(-2, 2), b[i] = random_f32(-2, 2);
        want[i] = which[i] == 0 ? a[i] + b[i] : which[i] == 1 ? a[i] - b[i] : which[i] == 2 ? a[i] * b[i] : a[i] > b[i] ? a[i] : b[i];
        want_more[i] = 0;
        for (int k = 0; k < 6; k++)
            want_more[i] += i % 3 ? (which[i] + k) * i + k : which[i] + k;
    }
    device_ptr dw = upload(which, sizeof which), da = upload(a, sizeof a), db = upload(b, sizeof b);
    device_ptr dout = zeros(sizeof want), dm = zeros(sizeof more);
    RUN("calls", 2, 64, &dw, &da, &db, &dout, &dm);
    download(got, dout, sizeof got);
    download(more, dm, sizeof more);
    expect_f32(got, want, N, 0, 0);
    expect_bytes(more, want_more, sizeof more);
}
#endif
