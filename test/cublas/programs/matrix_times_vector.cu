// gemv, as stored and transposed, with increments, and for batches, also of 16 bits.
#include "blas.h"

static const int M = 45, N = 70, LD = 50;

template <class T, class Y>
static bool right(cublasOperation_t op, const array<T> &a, const array<T> &x, int incx, double alpha,
                  double beta, const array<Y> &y, int incy, double tolerance, size_t a_from = 0,
                  size_t x_from = 0, size_t y_from = 0)
{
    int rows = op == CUBLAS_OP_N ? M : N, columns = op == CUBLAS_OP_N ? N : M;
    std::vector<Y> got = y.download();
    judge judge;

    for (int i = 0; i < rows; i++) {
        size_t at = y_from + (incy > 0 ? i * incy : (i + 1 - rows) * incy);
        double sum = 0;

        for (int j = 0; j < columns; j++)
            sum += element(a, op, LD, i, j, a_from) *
                   x[x_from + (incx > 0 ? j * incx : (j + 1 - columns) * incx)];
        judge.see(plain(got[at]), alpha * sum + beta * y[at], tolerance);
    }
    return judge.right();
}

template <class T> static bool simple(cublasOperation_t op, int incx, int incy, double tolerance);
template <> bool simple<float>(cublasOperation_t op, int incx, int incy, double tolerance)
{
    blas_handle handle;
    array<float> a(LD * N, 1), x(2 * N, 2), y(2 * N, 3);
    const float alpha = 2, beta = -1;

    BLAS(cublasSgemv(handle, op, M, N, &alpha, a.device, LD, x.device, incx, &beta, y.device, incy));
    return right(op, a, x, incx, alpha, beta, y, incy, tolerance);
}
template <> bool simple<double>(cublasOperation_t op, int incx, int incy, double tolerance)
{
    blas_handle handle;
    array<double> a(LD * N, 1), x(2 * N, 2), y(2 * N, 3);
    const double alpha = 2, beta = -1;

    BLAS(cublasDgemv(handle, op, M, N, &alpha, a.device, LD, x.device, incx, &beta, y.device, incy));
    return right(op, a, x, incx, alpha, beta, y, incy, tolerance);
}

template <class T, class Y, class F> static bool strided(F gemv, double tolerance)
{
    blas_handle handle;
    const int batch = 3;
    array<T> a(batch * LD * N, 1), x(batch * N, 2);
    array<Y> y(batch * M, 3);
    const float alpha = 1, beta = 1;
    bool all = true;

    BLAS(gemv(handle, CUBLAS_OP_N, M, N, &alpha, a.device, LD, LD * N, x.device, 1, N, &beta,
              y.device, 1, M, batch));
    for (int i = 0; i < batch; i++)
        all &= right(CUBLAS_OP_N, a, x, 1, 1, 1, y, 1, tolerance, i * LD * N, i * N, i * M);
    return all;
}

int main()
{
    const cublasOperation_t n = CUBLAS_OP_N, t = CUBLAS_OP_T;

    HOLDS(simple<float>(n, 1, 1, EXACT_F32)); //> simple<float>(n, 1, 1, EXACT_F32): yes
    HOLDS(simple<float>(t, 1, 1, EXACT_F32)); //> simple<float>(t, 1, 1, EXACT_F32): yes
    HOLDS(simple<double>(n, 2, -1, EXACT_F64)); //> simple<double>(n, 2, -1, EXACT_F64): yes
    HOLDS(simple<double>(t, -1, 2, EXACT_F64)); //> simple<double>(t, -1, 2, EXACT_F64): yes
    HOLDS((strided<float, float>(cublasSgemvStridedBatched, EXACT_F32))); //> (strided<float, float>(cublasSgemvStridedBatched, EXACT_F32)): yes
    HOLDS((strided<__half, __half>(cublasHSHgemvStridedBatched, EXACT_F16))); //> (strided<__half, __half>(cublasHSHgemvStridedBatched, EXACT_F16)): yes
    HOLDS((strided<__half, float>(cublasHSSgemvStridedBatched, EXACT_F32))); //> (strided<__half, float>(cublasHSSgemvStridedBatched, EXACT_F32)): yes
    HOLDS((strided<__nv_bfloat16, float>(cublasTSSgemvStridedBatched, EXACT_F32))); //> (strided<__nv_bfloat16, float>(cublasTSSgemvStridedBatched, EXACT_F32)): yes
}
