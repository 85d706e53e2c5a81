// No handle, sizes below zero, leading dimensions too small, increments of zero, values of no
// enumeration: a status each, and nothing is changed.
#include "blas.h"

int main()
{
    blas_handle h;
    cublasHandle_t none = nullptr;
    const cublasOperation_t n = CUBLAS_OP_N, t = CUBLAS_OP_T;
    const float one = 1, *null = nullptr;
    array<float> a(64, 1), b(64, 2), c(64, 3);

#define GEMM(handle, ta, tb, m, n, k, lda, ldb, ldc)                                               \
    cublasSgemm(handle, ta, tb, m, n, k, &one, a.device, lda, b.device, ldb, &one, c.device, ldc)
    STATUS(GEMM(none, n, n, 4, 4, 4, 4, 4, 4)); //> GEMM(none, n, n, 4, 4, 4, 4, 4, 4): CUBLAS_STATUS_NOT_INITIALIZED
    STATUS(GEMM(h, n, n, -1, 4, 4, 4, 4, 4)); //> GEMM(h, n, n, -1, 4, 4, 4, 4, 4): CUBLAS_STATUS_INVALID_VALUE
    STATUS(GEMM(h, n, n, 4, -1, 4, 4, 4, 4)); //> GEMM(h, n, n, 4, -1, 4, 4, 4, 4): CUBLAS_STATUS_INVALID_VALUE
    STATUS(GEMM(h, n, n, 4, 4, -1, 4, 4, 4)); //> GEMM(h, n, n, 4, 4, -1, 4, 4, 4): CUBLAS_STATUS_INVALID_VALUE
    STATUS(GEMM(h, n, n, 4, 5, 6, 3, 6, 4)); //> GEMM(h, n, n, 4, 5, 6, 3, 6, 4): CUBLAS_STATUS_INVALID_VALUE
    STATUS(GEMM(h, t, n, 4, 5, 6, 5, 6, 4)); //> GEMM(h, t, n, 4, 5, 6, 5, 6, 4): CUBLAS_STATUS_INVALID_VALUE
    STATUS(GEMM(h, n, n, 4, 5, 6, 4, 5, 4)); //> GEMM(h, n, n, 4, 5, 6, 4, 5, 4): CUBLAS_STATUS_INVALID_VALUE
    STATUS(GEMM(h, n, t, 4, 5, 6, 4, 4, 4)); //> GEMM(h, n, t, 4, 5, 6, 4, 4, 4): CUBLAS_STATUS_INVALID_VALUE
    STATUS(GEMM(h, n, n, 4, 5, 6, 4, 6, 3)); //> GEMM(h, n, n, 4, 5, 6, 4, 6, 3): CUBLAS_STATUS_INVALID_VALUE
    STATUS(GEMM(h, (cublasOperation_t)7, n, 4, 4, 4, 4, 4, 4)); //> GEMM(h, (cublasOperation_t)7, n, 4, 4, 4, 4, 4, 4): CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("alpha", cublasSgemm(h, n, n, 4, 4, 4, null, a.device, 4, b.device, 4, &one, c.device, 4)); //> alpha: CUBLAS_STATUS_INVALID_VALUE

    STATUS_OF("gemv", cublasSgemv(h, n, 4, 4, &one, a.device, 3, b.device, 1, &one, c.device, 1)); //> gemv: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("ger", cublasSger(h, 4, 4, &one, a.device, 1, b.device, 1, c.device, 3)); //> ger: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("trsm", cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, CUBLAS_DIAG_UNIT, 4, 4, &one, a.device, 3, b.device, 4)); //> trsm: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("trsm", cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, CUBLAS_DIAG_UNIT, 4, 4, &one, a.device, 4, b.device, 3)); //> trsm: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("geam", cublasSgeam(h, t, n, 4, 6, &one, a.device, 5, &one, b.device, 4, c.device, 4)); //> geam: CUBLAS_STATUS_INVALID_VALUE
    STATUS_OF("dot", cublasSdot(none, 4, a.device, 1, b.device, 1, c.device)); //> dot: CUBLAS_STATUS_NOT_INITIALIZED

    judge same;
    std::vector<float> got = c.download();
    for (int i = 0; i < 64; i++)
        same.see(got[i], c[i], EXACT_F32);
    HOLDS(same.right()); //> same.right(): yes
}
