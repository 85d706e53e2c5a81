// A result of one row or one column, of all transposes, types and leading dimensions, in batches.
#include "blas.h"

template <class T, class C>
static bool all(cudaDataType inputs, cudaDataType result, int m, int n, double tolerance)
{
    blas_handle handle;
    const int k = 75, batch = 2;
    const float alpha = 0.5f, beta = 2;
    const double alpha_f64 = 0.5, beta_f64 = 2;
    bool f64 = inputs == CUDA_R_64F, right = true;

    for (int which = 0; which < 4; which++) {
        cublasOperation_t ta = which & 1 ? CUBLAS_OP_T : CUBLAS_OP_N,
                          tb = which & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
        int lda = (which & 1 ? k : m) + 2, ldb = (which & 2 ? n : k) + 3, ldc = m + 1;
        int a_size = lda * (which & 1 ? m : k), b_size = ldb * (which & 2 ? k : n), c_size = ldc * n;
        array<T> a(batch * a_size, 1), b(batch * b_size, 2);
        array<C> c(batch * c_size, 3);

        BLAS(cublasGemmStridedBatchedEx(
            handle, ta, tb, m, n, k, f64 ? (const void *)&alpha_f64 : &alpha, a.device, inputs, lda,
            a_size, b.device, inputs, ldb, b_size, f64 ? (const void *)&beta_f64 : &beta, c.device,
            result, ldc, c_size, batch, f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
            CUBLAS_GEMM_DEFAULT));
        for (int i = 0; i < batch; i++)
            right &= gemm_right(ta, tb, m, n, k, 0.5, a, lda, b, ldb, 2, c, ldc, tolerance,
                                i * a_size, i * b_size, i * c_size);
    }
    return right;
}

int main()
{
    typedef __half h;
    typedef __nv_bfloat16 b;

    HOLDS((all<float, float>(CUDA_R_32F, CUDA_R_32F, 1, 1, EXACT_F32))); //> (all<float, float>(CUDA_R_32F, CUDA_R_32F, 1, 1, EXACT_F32)): yes
    HOLDS((all<float, float>(CUDA_R_32F, CUDA_R_32F, 70, 1, EXACT_F32))); //> (all<float, float>(CUDA_R_32F, CUDA_R_32F, 70, 1, EXACT_F32)): yes
    HOLDS((all<double, double>(CUDA_R_64F, CUDA_R_64F, 1, 70, EXACT_F64))); //> (all<double, double>(CUDA_R_64F, CUDA_R_64F, 1, 70, EXACT_F64)): yes
    HOLDS((all<h, h>(CUDA_R_16F, CUDA_R_16F, 33, 1, EXACT_F16))); //> (all<h, h>(CUDA_R_16F, CUDA_R_16F, 33, 1, EXACT_F16)): yes
    HOLDS((all<h, float>(CUDA_R_16F, CUDA_R_32F, 1, 33, EXACT_F32))); //> (all<h, float>(CUDA_R_16F, CUDA_R_32F, 1, 33, EXACT_F32)): yes
    HOLDS((all<b, b>(CUDA_R_16BF, CUDA_R_16BF, 1, 40, EXACT_BF16))); //> (all<b, b>(CUDA_R_16BF, CUDA_R_16BF, 1, 40, EXACT_BF16)): yes
    HOLDS((all<b, float>(CUDA_R_16BF, CUDA_R_32F, 40, 1, EXACT_F32))); //> (all<b, float>(CUDA_R_16BF, CUDA_R_32F, 40, 1, EXACT_F32)): yes
}
