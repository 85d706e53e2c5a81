/*
 * abi_facts.c - values and sizes of cuBLAS' binary interface, as lib/cublas/abi.h has them or,
 * compiled with GS_CUDART_TOOLKIT, the toolkit's headers. test_abi.c compares both.
 */
#include "cublas/abi.h"

#include "cudart/abi_facts.h"

// clang-format off
#define V(name) {#name, (long long)(name)},
#define S(type) {"sizeof " #type, (long long)sizeof(type)},

#if defined(GS_CUDART_TOOLKIT) && defined(GS_CUDART_12)
const struct abi_fact abi_facts_toolkit12[] = {
#elif defined(GS_CUDART_TOOLKIT)
const struct abi_fact abi_facts_toolkit[] = {
#elif defined(GS_CUDART_12)
const struct abi_fact abi_facts_own12[] = {
#else
const struct abi_fact abi_facts_own[] = {
#endif
#define STATUS(name, value, text) V(name)
#include "cublas/base/statuses.def"
#undef STATUS
    V(CUBLAS_VERSION) V(CUBLAS_FILL_MODE_LOWER) V(CUBLAS_FILL_MODE_UPPER) V(CUBLAS_FILL_MODE_FULL)
    V(CUBLAS_DIAG_NON_UNIT) V(CUBLAS_DIAG_UNIT) V(CUBLAS_SIDE_LEFT) V(CUBLAS_SIDE_RIGHT)
    V(CUBLAS_OP_N) V(CUBLAS_OP_T) V(CUBLAS_OP_C) V(CUBLAS_OP_CONJG) V(CUBLAS_POINTER_MODE_HOST)
    V(CUBLAS_POINTER_MODE_DEVICE) V(CUBLAS_ATOMICS_NOT_ALLOWED) V(CUBLAS_ATOMICS_ALLOWED)
    V(CUBLAS_GEMM_DEFAULT) V(CUBLAS_GEMM_ALGO23) V(CUBLAS_GEMM_DEFAULT_TENSOR_OP)
    V(CUBLAS_GEMM_ALGO15_TENSOR_OP) V(CUBLAS_DEFAULT_MATH) V(CUBLAS_TENSOR_OP_MATH)
    V(CUBLAS_PEDANTIC_MATH) V(CUBLAS_TF32_TENSOR_OP_MATH) V(CUBLAS_FP32_EMULATED_BF16X9_MATH)
#ifndef GS_CUDART_12
    V(CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH) V(CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT)
#endif
    V(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) V(CUBLAS_COMPUTE_16F)
    V(CUBLAS_COMPUTE_16F_PEDANTIC) V(CUBLAS_COMPUTE_32F) V(CUBLAS_COMPUTE_32F_PEDANTIC)
    V(CUBLAS_COMPUTE_32F_FAST_16F) V(CUBLAS_COMPUTE_32F_FAST_16BF) V(CUBLAS_COMPUTE_32F_FAST_TF32)
    V(CUBLAS_COMPUTE_32F_EMULATED_16BFX9) V(CUBLAS_COMPUTE_64F) V(CUBLAS_COMPUTE_64F_PEDANTIC)
    V(CUBLAS_COMPUTE_32I) V(CUBLAS_COMPUTE_32I_PEDANTIC) V(CUDA_R_32F) V(CUDA_R_64F) V(CUDA_R_16F)
    V(CUDA_R_8I) V(CUDA_C_32F) V(CUDA_C_64F) V(CUDA_R_32I) V(CUDA_R_16BF) V(MAJOR_VERSION)
    V(MINOR_VERSION) V(PATCH_LEVEL) S(cublasHandle_t) S(cublasStatus_t) S(cuComplex)
    S(cuDoubleComplex)
    {NULL, 0}
};
