/* The f64 library, which builds on fma, bit fiddling and approximate reciprocals. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL math_f64(const double *a, double *out)
{
    int i = INDEX;
    double x = a[i], p = fabs(x) + 0.01, *o = out + 20 * i;
    o[0] = sin(x), o[1] = cos(x), o[2] = tan(x), o[3] = sin(x * 1e9), o[4] = exp(x), o[5] = exp2(x), o[6] = log(p);
    o[7] = log2(p), o[8] = pow(p, x), o[9] = sqrt(p), o[10] = rsqrt(p), o[11] = cbrt(x), o[12] = atan2(x, p), o[13] = asin(x / 11);
    o[14] = tanh(x), o[15] = erf(x), o[16] = tgamma(p), o[17] = hypot(x, p), o[18] = fmod(x * 100, p), o[19] = x / p;
}
#else
CASE(math_f64)
{
    enum { N = 128 };
    double a[N], *want = scratch(8 * 20 * N), *got = scratch(8 * 20 * N);

    for (int i = 0; i < N; i++) {
        double x = a[i] = (double)random_f32(-10, 10) * 1.0000001, p = fabs(x) + 0.01;
        double r[20] = {sin(x), cos(x), tan(x), sin(x * 1e9), exp(x), exp2(x), log(p), log2(p), pow(p, x), sqrt(p), 1 / sqrt(p), cbrt(x),
                        atan2(x, p), asin(x / 11), tanh(x), erf(x), tgamma(p), hypot(x, p), fmod(x * 100, p), x / p};
        memcpy(want + 20 * i, r, sizeof r);
    }
    device_ptr da = upload(a, sizeof a), dout = zeros(8 * 20 * N);
    RUN("math_f64", 4, 32, &da, &dout);
    download(got, dout, 8 * 20 * N);
    expect_f64(got, want, 20 * N, 2e-15, 1e-15);
}
#endif
