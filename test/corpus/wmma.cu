/* Tensor cores by nvcuda::wmma: f16 with f32 and f16 sums, s8, bf16, tf32, f64. */
#include "corpus.h"

#ifdef DEVICE_CODE
#include <mma.h>
using namespace nvcuda;

KERNEL wmma_f16(const float *a, const float *b, float *c, int n)
{
    __shared__ __half s[16 * 16], t[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;

    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            s[i] = __float2half(a[(y0 + i / 16) * n + k + i % 16]);
            t[i] = __float2half(b[(k + i % 16) * n + x0 + i / 16]); /* by columns */
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, s, 16);
        wmma::load_matrix_sync(fb, t, 16);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncwarp();
    }
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= 2.0f;
    wmma::store_matrix_sync(c + y0 * n + x0, fc, n, wmma::mem_row_major);
}

KERNEL wmma_s8(const signed char *a, const signed char *b, int *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 7);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major);
}

KERNEL wmma_f64(const double *a, const double *b, double *c)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
    wmma::fill_fragment(fc, 0.0);
    wmma::load_matrix_sync(fa, a, 4);
    wmma::load_matrix_sync(fb, b, 8);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
#else
CASE(wmma)
{
    int n = 48;
    float *a = scratch(4 * n * n), *b = scratch(4 * n * n), *want = scratch(4 * n * n), *got = scratch(4 * n * n);
    signed char p[256], q[256];
    int sums[256], out[256];
    double da[32], db[32], dc[64], dgot[64];

    /* small integers: exact in every format */
    for (int i = 0; i < n * n; i++)
        a[i] = (float)((int)(random_u32() % 9) - 4), b[i] = (float)((int)(random_u32() % 9) - 4);
    for (int i = 0; i < n * n; i++)
        for (int k = 0; k < n; k++)
            want[i] += 2 * a[i / n * n + k] * b[k * n + i % n];
    device_ptr pa = upload(a, 4 * n * n), pb = upload(b, 4 * n * n), pc = zeros(4 * n * n);
    launch("wmma_f16", (struct size3){3, 3, 1}, (struct size3){32, 1, 1}, 0, ARGS(&pa, &pb, &pc, &n));
    download(got, pc, 4 * n * n);
    expect_f32(got, want, n * n, 0, 0);

    for (int i = 0; i < 256; i++)
        p[i] = (signed char)random_u32(), q[i] = (signed char)random_u32();
    for (int i = 0; i < 256; i++) {
        sums[i] = 7;
        for (int k = 0; k < 16; k++)
            sums[i] += p[i % 16 * 16 + k] * q[k * 16 + i / 16];
    }
    pa = upload(p, 256), pb = upload(q, 256), pc = zeros(1024);
    RUN("wmma_s8", 1, 32, &pa, &pb, &pc);
    download(out, pc, 1024);
    expect_bytes(out, sums, 1024);

    for (int i = 0; i < 32; i++)
        da[i] = (double)random_f32(-1, 1), db[i] = (double)random_f32(-1, 1);
    for (int i = 0; i < 64; i++) {
        dc[i] = 0;
        for (int k = 0; k < 4; k++)
            dc[i] = fma(da[i / 8 * 4 + k], db[k * 8 + i % 8], dc[i]);
    }
    pa = upload(da, sizeof da), pb = upload(db, sizeof db), pc = zeros(sizeof dc);
    RUN("wmma_f64", 1, 32, &pa, &pb, &pc);
    download(dgot, pc, sizeof dgot);
    expect_f64(dgot, dc, 64, 1e-15, 1e-15);
}
#endif
