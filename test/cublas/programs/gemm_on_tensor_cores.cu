// Products large enough for tensor cores: all transposes, sizes and leading dimensions that no
// vector of 16 bytes fits, addresses that are not aligned, f32 as tf32 by the handle's math mode.
#include "blas.h"

template <class T, class C>
static bool all(cudaDataType inputs, cudaDataType result, cublasComputeType_t compute, int m, int n,
                int k, int more, double tolerance, int from = 0)
{
    blas_handle handle;
    const float alpha = 0.5f, beta = 2;
    bool right = true;

    BLAS(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    for (int which = 0; which < 4; which++) {
        cublasOperation_t ta = which & 1 ? CUBLAS_OP_T : CUBLAS_OP_N,
                          tb = which & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
        int lda = (which & 1 ? k : m) + more, ldb = (which & 2 ? n : k) + more, ldc = m + 1;
        array<T> a(from + (size_t)lda * (which & 1 ? m : k), 1);
        array<T> b(from + (size_t)ldb * (which & 2 ? k : n), 2);
        array<C> c((size_t)ldc * n, 3);

        BLAS(cublasGemmEx(handle, ta, tb, m, n, k, &alpha, a.device + from, inputs, lda,
                          b.device + from, inputs, ldb, &beta, c.device, result, ldc, compute,
                          CUBLAS_GEMM_DEFAULT_TENSOR_OP));
        right &= gemm_right(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, tolerance, from,
                            from);
    }
    return right;
}

int main()
{
    typedef __half h;
    typedef __nv_bfloat16 b;
    const cudaDataType f16 = CUDA_R_16F, bf16 = CUDA_R_16BF, f32 = CUDA_R_32F;
    const cublasComputeType_t in_f32 = CUBLAS_COMPUTE_32F;

    HOLDS((all<h, float>(f16, f32, in_f32, 64, 40, 80, 0, EXACT_F32))); //> (all<h, float>(f16, f32, in_f32, 64, 40, 80, 0, EXACT_F32)): yes
    HOLDS((all<h, h>(f16, f16, in_f32, 136, 144, 40, 8, EXACT_F16))); //> (all<h, h>(f16, f16, in_f32, 136, 144, 40, 8, EXACT_F16)): yes
    HOLDS((all<h, float>(f16, f32, in_f32, 133, 35, 45, 3, EXACT_F32))); //> (all<h, float>(f16, f32, in_f32, 133, 35, 45, 3, EXACT_F32)): yes
    HOLDS((all<h, float>(f16, f32, in_f32, 37, 131, 19, 3, EXACT_F32, 1))); //> (all<h, float>(f16, f32, in_f32, 37, 131, 19, 3, EXACT_F32, 1)): yes
    HOLDS((all<b, float>(bf16, f32, in_f32, 139, 36, 72, 5, EXACT_F32))); //> (all<b, float>(bf16, f32, in_f32, 139, 36, 72, 5, EXACT_F32)): yes
    HOLDS((all<b, b>(bf16, bf16, in_f32, 64, 128, 64, 0, EXACT_BF16))); //> (all<b, b>(bf16, bf16, in_f32, 64, 128, 64, 0, EXACT_BF16)): yes
    HOLDS((all<float, float>(f32, f32, in_f32, 132, 36, 36, 0, 5e-3))); //> (all<float, float>(f32, f32, in_f32, 132, 36, 36, 0, 5e-3)): yes
    HOLDS((all<float, float>(f32, f32, in_f32, 35, 141, 21, 1, 5e-3))); //> (all<float, float>(f32, f32, in_f32, 35, 141, 21, 1, 5e-3)): yes
}
