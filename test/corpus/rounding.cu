/* Sums, products, quotients and roots with each rounding mode, and conversions with saturation. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL rounding(const float *a, const float *b, const double *x, const double *y, float *f, double *d, int *n)
{
    int i = INDEX;
    float p = a[i], q = b[i], *o = f + 16 * i;
    double u = x[i], v = y[i], *w = d + 8 * i;
    o[0] = __fadd_rz(p, q), o[1] = __fadd_ru(p, q), o[2] = __fadd_rd(p, q), o[3] = __fmul_rz(p, q);
    o[4] = __fmul_ru(p, q), o[5] = __fmul_rd(p, q), o[6] = __fmaf_rz(p, q, p), o[7] = __fmaf_ru(p, q, p);
    o[8] = __fmaf_rd(p, q, p), o[9] = __fdiv_rn(p, q), o[10] = __fdiv_ru(p, q), o[11] = __fsqrt_rd(fabsf(p));
    o[12] = __frcp_rz(q), o[13] = __double2float_rd(u), o[14] = __double2float_ru(u), o[15] = __saturatef(p);
    w[0] = __dadd_ru(u, v), w[1] = __dadd_rd(u, v), w[2] = __dmul_rz(u, v), w[3] = __fma_ru(u, v, u);
    w[4] = __ddiv_rd(u, v), w[5] = __dsqrt_ru(fabs(u)), w[6] = __drcp_rz(v), w[7] = rint(u) + floor(v);
    int *m = n + 8 * i;
    m[0] = __float2int_rn(p * 1e9f), m[1] = __float2int_ru(p * 100), m[2] = __float2int_rd(p * 100), m[3] = (int)(p * 1e12f);
    m[4] = (int)__float2uint_rz(p * 1e10f), m[5] = __double2int_rn(u * 1e3), m[6] = (int)(__float2ll_rn(p * 1e15f) >> 20);
    m[7] = (int)(signed char)(int)(p * 10) + (unsigned char)(unsigned)fabsf(q * 50);
}
#else
#include <fenv.h>

static float bounded(double x, double low, double high)
{
    return (float)(x < low ? low : x > high ? high : x);
}

/* The compiler must not move arithmetic across the changes of mode. */
#define WITH(mode, type, expression)                                                                                   \
    ({                                                                                                                 \
        fesetround(mode);                                                                                              \
        volatile type with_result = (expression);                                                                      \
        fesetround(FE_TONEAREST);                                                                                      \
        with_result;                                                                                                   \
    })

CASE(rounding)
{
    enum { N = 256 };
    float a[N], b[N], *f = scratch(4 * 16 * N), *got = scratch(4 * 16 * N);
    double x[N], y[N], *d = scratch(8 * 8 * N), *got_d = scratch(8 * 8 * N);
    int *n = scratch(4 * 8 * N), *got_n = scratch(4 * 8 * N);

    for (int i = 0; i < N; i++) {
        a[i] = random_f32(-3, 3), b[i] = random_f32(0.1f, 5) * (i & 1 ? 1e-3f : 1);
        x[i] = (double)a[i] + (double)random_f32(0, 1e-6f), y[i] = (double)b[i] + (double)random_f32(0, 1e-6f);
        volatile float p = a[i], q = b[i];
        volatile double u = x[i], v = y[i];
        float *o = f + 16 * i;
        double *w = d + 8 * i;
        int *m = n + 8 * i, Z = FE_TOWARDZERO, U = FE_UPWARD, D = FE_DOWNWARD;
        o[0] = WITH(Z, float, p + q), o[1] = WITH(U, float, p + q), o[2] = WITH(D, float, p + q);
        o[3] = WITH(Z, float, p *q), o[4] = WITH(U, float, p *q), o[5] = WITH(D, float, p *q);
        o[6] = WITH(Z, float, fmaf(p, q, p)), o[7] = WITH(U, float, fmaf(p, q, p)), o[8] = WITH(D, float, fmaf(p, q, p));
        o[9] = p / q, o[10] = WITH(U, float, p / q), o[11] = WITH(D, float, sqrtf(fabsf(p)));
        o[12] = WITH(Z, float, 1.0f / q), o[13] = WITH(D, float, (float)u), o[14] = WITH(U, float, (float)u);
        o[15] = bounded((double)p, 0, 1);
        w[0] = WITH(U, double, u + v), w[1] = WITH(D, double, u + v), w[2] = WITH(Z, double, u *v);
        w[3] = WITH(U, double, fma(u, v, u)), w[4] = WITH(D, double, u / v), w[5] = WITH(U, double, sqrt(fabs(u)));
        w[6] = WITH(Z, double, 1.0 / v), w[7] = rint(u) + floor(v);
        double big = (double)(p * 1e9f);
        m[0] = big >= 2147483647.0 ? 2147483647 : big <= -2147483648.0 ? (-2147483647 - 1) : (int)rint(big);
        m[1] = (int)ceilf(p * 100), m[2] = (int)floorf(p * 100);
        m[3] = p * 1e12f >= 2147483648.0f ? 2147483647 : p * 1e12f < -2147483648.0f ? (-2147483647 - 1) : (int)(p * 1e12f);
        m[4] = p <= 0 ? 0 : p * 1e10f >= 4294967296.0f ? -1 : (int)(unsigned)(p * 1e10f);
        m[5] = (int)rint(u * 1e3);
        m[6] = (int)(llrintf(p * 1e15f) >> 20);
        m[7] = (int)(signed char)(int)(p * 10) + (unsigned char)(unsigned)fabsf(q * 50);
    }
    device_ptr da = upload(a, sizeof a), db = upload(b, sizeof b), dx = upload(x, sizeof x), dy = upload(y, sizeof y);
    device_ptr df = zeros(4 * 16 * N), dd = zeros(8 * 8 * N), dn = zeros(4 * 8 * N);
    RUN("rounding", 8, 32, &da, &db, &dx, &dy, &df, &dd, &dn);
    download(got, df, 4 * 16 * N);
    download(got_d, dd, 8 * 8 * N);
    download(got_n, dn, 4 * 8 * N);
    expect_f32(got, f, 16 * N, 0, 0);
    expect_f64(got_d, d, 8 * N, 0, 0);
    expect_u32((uint32_t *)got_n, (uint32_t *)n, 8 * N);
}
#endif
