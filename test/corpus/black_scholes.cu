/* Option prices: exp, log, sqrt, erfc in f32 and f64. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL black_scholes(const float *s, const float *k, const float *t, float *call, int n)
{
    int i = INDEX;

    if (i >= n)
        return;
    float v = 0.3f, r = 0.02f, root = sqrtf(t[i]);
    float d1 = (logf(s[i] / k[i]) + (r + 0.5f * v * v) * t[i]) / (v * root), d2 = d1 - v * root;
    call[i] = s[i] * normcdff(d1) - k[i] * expf(-r * t[i]) * normcdff(d2);
}

KERNEL black_scholes_f64(const float *s, const float *k, const float *t, double *call, int n)
{
    int i = INDEX;

    if (i >= n)
        return;
    double v = 0.3, r = 0.02, root = sqrt((double)t[i]);
    double d1 = (log((double)s[i] / k[i]) + (r + 0.5 * v * v) * t[i]) / (v * root), d2 = d1 - v * root;
    call[i] = s[i] * 0.5 * erfc(-d1 * M_SQRT1_2) - k[i] * exp(-r * t[i]) * 0.5 * erfc(-d2 * M_SQRT1_2);
}
#else
CASE(black_scholes)
{
    int n = 500;
    float *s = scratch(4 * n), *k = scratch(4 * n), *t = scratch(4 * n), *got = scratch(4 * n);
    double *want = scratch(8 * n), *got64 = scratch(8 * n);
    float *want32 = scratch(4 * n);

    for (int i = 0; i < n; i++) {
        s[i] = random_f32(5, 30), k[i] = random_f32(1, 100), t[i] = random_f32(0.25f, 10);
        double v = 0.3, r = 0.02, T = (double)t[i], root = sqrt(T);
        double d1 = (log((double)s[i] / (double)k[i]) + (r + 0.5 * v * v) * T) / (v * root), d2 = d1 - v * root;
        want[i] = (double)s[i] * 0.5 * erfc(-d1 * M_SQRT1_2) - (double)k[i] * exp(-r * T) * 0.5 * erfc(-d2 * M_SQRT1_2);
        want32[i] = (float)want[i];
    }
    device_ptr ds = upload(s, 4 * n), dk = upload(k, 4 * n), dt = upload(t, 4 * n), dc = zeros(8 * n);
    RUN("black_scholes", 4, 128, &ds, &dk, &dt, &dc, &n);
    download(got, dc, 4 * n);
    expect_f32(got, want32, n, 2e-5, 2e-5);
    RUN("black_scholes_f64", 4, 128, &ds, &dk, &dt, &dc, &n);
    download(got64, dc, 8 * n);
    expect_f64(got64, want, n, 1e-12, 1e-12);
}
#endif
