/* binary16 and bfloat16: scalars, pairs, conversions, comparisons. */
#include "corpus.h"

#ifdef DEVICE_CODE
#include <cuda_bf16.h>
#include <cuda_fp16.h>

KERNEL halves(const float *a, const float *b, const float *c, unsigned short *out)
{
    int i = INDEX;
    __half x = __float2half(a[i]), y = __float2half(b[i]), z = __float2half(c[i]);
    __half r[8] = {x + y, x - y, x * y, __hfma(x, y, z), __hmax(x, y), __hneg(x), x / y, hsqrt(__habs(z))};
    for (int k = 0; k < 8; k++)
        out[8 * i + k] = __half_as_ushort(r[k]);
}

KERNEL pairs(const float *a, const float *b, float *out, int *equal)
{
    int i = INDEX;
    __half2 x = __floats2half2_rn(a[i], b[i]), y = __floats2half2_rn(b[i], a[i]);
    float2 sum = __half22float2(__hfma2(x, y, __hadd2(x, y)));
    __nv_bfloat16 p = __float2bfloat16(a[i]), q = __float2bfloat16(b[i]);
    out[4 * i] = sum.x;
    out[4 * i + 1] = sum.y;
    out[4 * i + 2] = __bfloat162float(__hfma(p, q, p));
    out[4 * i + 3] = (float)__half2int_rz(__float2half(a[i] * 50.0f));
    equal[i] = __hgt(__low2half(x), __high2half(x)) | __hbeq2(x, x) << 1;
}
#else
/* Rounding to a binary float of FRACTION stored bits, to nearest even, in double. */
static double round_to(double x, int fraction, int least)
{
    int e = x == 0 ? least : ilogb(x);
    double ulp = ldexp(1.0, (e < least ? least : e) - fraction);

    return nearbyint(x / ulp) * ulp;
}

static double h(double x)
{
    return round_to(x, 10, -14);
}

static unsigned short half_bits(double x)
{
    double m = fabs(x);
    int e = m == 0 ? -15 : ilogb(m);
    unsigned bits = e < -14 ? (unsigned)ldexp(m, 24) : (unsigned)(e + 15) << 10 | ((unsigned)ldexp(m, 10 - e) & 1023);

    return (unsigned short)(bits | (signbit(x) ? 0x8000u : 0));
}

CASE(half)
{
    enum { N = 128 };
    float a[N], b[N], c[N], want[4 * N], got[4 * N];
    unsigned short bits[8 * N], out[8 * N];
    int equal[N], got_equal[N];

    for (int i = 0; i < N; i++) {
        a[i] = random_f32(-4, 4), b[i] = random_f32(-4, 4), c[i] = random_f32(-1e-3f, 1e-3f);
        double x = h((double)a[i]), y = h((double)b[i]), z = h((double)c[i]);
        double r[8] = {h(x + y), h(x - y), h(x * y), h(fma(x, y, z)), x > y ? x : y, -x, h(x / y), h(sqrt(fabs(z)))};
        for (int k = 0; k < 8; k++)
            bits[8 * i + k] = half_bits(r[k]);
        double sum = h(x + y), p = round_to((double)a[i], 7, -126), q = round_to((double)b[i], 7, -126);
        want[4 * i] = want[4 * i + 1] = (float)h(fma(x, y, sum));
        want[4 * i + 2] = (float)round_to(fma(p, q, p), 7, -126);
        want[4 * i + 3] = truncf((float)h((double)(a[i] * 50.0f)));
        equal[i] = (x > y) | 2;
    }
    device_ptr da = upload(a, sizeof a), db = upload(b, sizeof b), dc = upload(c, sizeof c);
    device_ptr dout = zeros(sizeof want), de = zeros(sizeof equal);
    RUN("halves", 2, 64, &da, &db, &dc, &dout);
    download(out, dout, sizeof out);
    for (int i = 0; i < 8 * N; i++)
        if (i % 8 != 6) /* division is approximate to the last bit */
            expect_u32((uint32_t[]){out[i]}, (uint32_t[]){bits[i]}, 1);
    RUN("pairs", 2, 64, &da, &db, &dout, &de);
    download(got, dout, sizeof got);
    download(got_equal, de, sizeof equal);
    expect_f32(got, want, 4 * N, 0, 0);
    expect_bytes(got_equal, equal, sizeof equal);
}
#endif
