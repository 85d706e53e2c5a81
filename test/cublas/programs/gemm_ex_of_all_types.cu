// cublasGemmEx: types of the inputs, of the result, and of what is computed in.
#include "blas.h"

static const int M = 37, N = 21, K = 40, LD = 48;

template <class T, class C, class X>
static void show(const char *name, cudaDataType inputs, cudaDataType result,
                 cublasComputeType_t compute, double tolerance, double scale = 1)
{
    blas_handle handle;
    const X alpha = value<X>(scale), beta = value<X>(scale);
    array<T> a(LD * LD, 1), b(LD * LD, 2);
    array<C> c(LD * N, 3);
    cublasStatus_t status;

    status = cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, &alpha, a.device, inputs, LD,
                          b.device, inputs, LD, &beta, c.device, result, LD, compute,
                          CUBLAS_GEMM_DEFAULT);
    printf("%s: %s\n", name,
           status != CUBLAS_STATUS_SUCCESS ? cublasGetStatusName(status)
           : gemm_right(CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, plain(alpha), a, LD, b, LD, plain(beta), c, LD,
                        tolerance)
               ? "right"
               : "wrong");
}

int main()
{
    typedef __half h;
    typedef __nv_bfloat16 b;

    show<h, h, h>("f16 in f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, 2e-2); //> f16 in f16: right
    show<h, h, h>("f16 in f16, pedantic", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F_PEDANTIC, 2e-2); //> f16 in f16, pedantic: right
    show<h, h, float>("f16 in f32", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, EXACT_F16); //> f16 in f32: right
    show<h, float, float>("f16 in f32 to f32", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, EXACT_F32); //> f16 in f32 to f32: right
    show<b, b, float>("bf16 in f32", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, EXACT_BF16); //> bf16 in f32: right
    show<b, float, float>("bf16 in f32 to f32", CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, EXACT_F32); //> bf16 in f32 to f32: right
    show<float, float, float>("f32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, EXACT_F32); //> f32: right
    show<float, float, float>("f32, pedantic", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, EXACT_F32); //> f32, pedantic: right
    show<float, float, float>("f32 as tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 1e-2); //> f32 as tf32: right
    show<float, float, float>("f32 as f16", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F, 1e-2); //> f32 as f16: right
    show<float, float, float>("f32 as bf16", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16BF, 5e-2); //> f32 as bf16: right
    show<double, double, double>("f64", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, EXACT_F64); //> f64: right
    show<int8_t, int, int>("s8 in s32", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 0.1e-9); //> s8 in s32: right
    show<int8_t, float, float>("s8 in f32", CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F, EXACT_F32); //> s8 in f32: right
    show<h, h, double>("f16 in f64", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_64F, 1); //> f16 in f64: CUBLAS_STATUS_NOT_SUPPORTED
    show<h, double, float>("f16 to f64", CUDA_R_16F, CUDA_R_64F, CUBLAS_COMPUTE_32F, 1); //> f16 to f64: CUBLAS_STATUS_NOT_SUPPORTED
}
