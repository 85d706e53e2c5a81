/* The f32 library: exponentials, logarithms, trigonometry with large arguments, and the fast intrinsics. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL math_f32(const float *a, float *out)
{
    int i = INDEX;
    float x = a[i], p = fabsf(x) + 0.01f, *o = out + 24 * i;
    o[0] = sinf(x), o[1] = cosf(x), o[2] = tanf(x), o[3] = sinf(x * 1e6f), o[4] = expf(x), o[5] = exp2f(x);
    o[6] = logf(p), o[7] = log2f(p), o[8] = log10f(p), o[9] = log1pf(p), o[10] = powf(p, x), o[11] = sqrtf(p);
    o[12] = rsqrtf(p), o[13] = cbrtf(x), o[14] = atanf(x), o[15] = atan2f(x, p), o[16] = asinf(x / 11), o[17] = sinhf(x);
    o[18] = tanhf(x), o[19] = erff(x), o[20] = hypotf(x, p), o[21] = fmodf(x * 100, p), o[22] = ldexpf(x, i % 40 - 20);
    o[23] = nearbyintf(x * 10) + truncf(x * 7) + ceilf(x) + roundf(x * 3);
}

KERNEL fast_f32(const float *a, float *out)
{
    int i = INDEX;
    float x = a[i], p = fabsf(x) + 0.01f, *o = out + 8 * i;
    o[0] = __sinf(x), o[1] = __cosf(x), o[2] = __expf(x), o[3] = __logf(p), o[4] = __powf(p, 1.5f), o[5] = __fdividef(x, p);
    o[6] = __frsqrt_rn(p), o[7] = __tanf(x / 10);
}
#else
CASE(math_f32)
{
    enum { N = 256 };
    float a[N], *want = scratch(4 * 24 * N), *got = scratch(4 * 24 * N), *fast = scratch(4 * 8 * N), *got_fast = scratch(4 * 8 * N);

    for (int i = 0; i < N; i++) {
        float x = a[i] = random_f32(-10, 10), p = fabsf(x) + 0.01f, big = x * 1e6f, *o = want + 24 * i;
        double X = (double)x, P = (double)p;
        double r[24] = {sin(X), cos(X), tan(X), sin((double)big), exp(X), exp2(X), log(P), log2(P), log10(P), log1p(P), pow(P, X), sqrt(P),
                        1 / sqrt(P), cbrt(X), atan(X), atan2(X, P), asin((double)(x / 11)), sinh(X), tanh(X), erf(X), hypot(X, P),
                        fmod((double)(x * 100), P), ldexp(X, i % 40 - 20), 0};
        for (int k = 0; k < 24; k++)
            o[k] = (float)r[k];
        o[23] = nearbyintf(x * 10) + truncf(x * 7) + ceilf(x) + roundf(x * 3);
        double s[8] = {sin(X), cos(X), exp(X), log(P), pow(P, 1.5), X / P, 1 / sqrt(P), tan((double)(x / 10))};
        for (int k = 0; k < 8; k++)
            fast[8 * i + k] = (float)s[k];
    }
    device_ptr da = upload(a, sizeof a), dout = zeros(4 * 24 * N);
    RUN("math_f32", 8, 32, &da, &dout);
    download(got, dout, 4 * 24 * N);
    expect_f32(got, want, 24 * N, 2e-6, 2e-6);
    RUN("fast_f32", 8, 32, &da, &dout);
    download(got_fast, dout, 4 * 8 * N);
    expect_f32(got_fast, fast, 8 * N, 1e-5, 1e-5);
}
#endif
