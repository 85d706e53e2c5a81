// A product of matrices: each of both as stored or transposed, leading dimensions larger than the
// rows, sizes below and beyond one tile, in f32 and f64.
#include "blas.h"

static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

template <class T, class F> static bool all(F gemm, int m, int n, int k, double tolerance)
{
    blas_handle handle;
    const T alpha = T(1.5), beta = T(-0.5);
    bool right = true;

    for (cublasOperation_t ta : ops) {
        for (cublasOperation_t tb : ops) {
            int lda = (ta == CUBLAS_OP_N ? m : k) + 3, ldb = (tb == CUBLAS_OP_N ? k : n) + 1,
                ldc = m + 2;
            array<T> a((size_t)lda * (ta == CUBLAS_OP_N ? k : m), 1);
            array<T> b((size_t)ldb * (tb == CUBLAS_OP_N ? n : k), 2);
            array<T> c((size_t)ldc * n, 3);

            BLAS(gemm(handle, ta, tb, m, n, k, &alpha, a.device, lda, b.device, ldb, &beta,
                      c.device, ldc));
            right &= gemm_right(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, tolerance);
        }
    }
    return right;
}

int main()
{
    HOLDS(all<float>(cublasSgemm, 1, 1, 1, EXACT_F32)); //> all<float>(cublasSgemm, 1, 1, 1, EXACT_F32): yes
    HOLDS(all<float>(cublasSgemm, 7, 5, 3, EXACT_F32)); //> all<float>(cublasSgemm, 7, 5, 3, EXACT_F32): yes
    HOLDS(all<float>(cublasSgemm, 33, 65, 19, EXACT_F32)); //> all<float>(cublasSgemm, 33, 65, 19, EXACT_F32): yes
    HOLDS(all<double>(cublasDgemm, 7, 5, 3, EXACT_F64)); //> all<double>(cublasDgemm, 7, 5, 3, EXACT_F64): yes
    HOLDS(all<double>(cublasDgemm, 40, 33, 17, EXACT_F64)); //> all<double>(cublasDgemm, 40, 33, 17, EXACT_F64): yes
}
