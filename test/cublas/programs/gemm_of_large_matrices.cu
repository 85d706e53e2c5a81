// Matrices of so many tiles that other kernels compute them.
#include "blas.h"

template <class T, class F> static bool one(F gemm, int m, int n, int k, double tolerance)
{
    blas_handle handle;
    const T alpha = T(1), beta = T(0.25);
    array<T> a((size_t)m * k, 1), b((size_t)n * k, 2), c((size_t)m * n, 3);

    BLAS(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, a.device, m, b.device, n, &beta,
              c.device, m));
    return gemm_right(CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, alpha, a, m, b, n, beta, c, m, tolerance);
}

template <class T, class F> static bool other(F gemm, int m, int n, int k, double tolerance)
{
    blas_handle handle;
    const T alpha = T(1), beta = T(0);
    array<T> a((size_t)m * k, 1), b((size_t)n * k, 2), c((size_t)m * n, 3);

    BLAS(gemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, a.device, k, b.device, k, &beta,
              c.device, m));
    return gemm_right(CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, alpha, a, k, b, k, beta, c, m, tolerance);
}

int main()
{
    HOLDS(one<float>(cublasSgemm, 1000, 1010, 9, EXACT_F32)); //> one<float>(cublasSgemm, 1000, 1010, 9, EXACT_F32): yes
    HOLDS(other<float>(cublasSgemm, 1025, 999, 10, EXACT_F32)); //> other<float>(cublasSgemm, 1025, 999, 10, EXACT_F32): yes
    HOLDS(one<double>(cublasDgemm, 500, 515, 9, EXACT_F64)); //> one<double>(cublasDgemm, 500, 515, 9, EXACT_F64): yes
    HOLDS(other<double>(cublasDgemm, 513, 499, 10, EXACT_F64)); //> other<double>(cublasDgemm, 513, 499, 10, EXACT_F64): yes
}
