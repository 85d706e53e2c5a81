/* vendor.c - see vendor.h. */
#include "cublas/op/vendor.h"

#include <math.h>
#include <string.h>

#include "gshare_cuda.h"

static bool type_find(cudaDataType type, gs_gemm_type *found)
{
    switch (type) {
    case CUDA_R_16F:
        *found = GS_GEMM_F16;
        return true;
    case CUDA_R_16BF:
        *found = GS_GEMM_BF16;
        return true;
    case CUDA_R_32F:
        *found = GS_GEMM_F32;
        return true;
    case CUDA_R_64F:
        *found = GS_GEMM_F64;
        return true;
    case CUDA_R_8I:
        *found = GS_GEMM_S8;
        return true;
    case CUDA_R_32I:
        *found = GS_GEMM_S32;
        return true;
    default:
        return false;
    }
}

/* Finds the server's compute type. Returns false for pedantic types, which are left to this
 * library's kernels, whose order of sums is known. */
static bool compute_find(const struct operation *op, gs_gemm_compute *found)
{
    switch (op->compute) {
    case CUBLAS_COMPUTE_16F:
        *found = GS_GEMM_COMPUTE_F32;
        /* At a scalar's address the server reads f32, which is another type than the record's. */
        return op->alpha.address == 0 && op->beta.address == 0;
    case CUBLAS_COMPUTE_32F:
        *found = GS_GEMM_COMPUTE_F32;
        return true;
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        *found = op->a.type == CUDA_R_32F ? GS_GEMM_COMPUTE_TF32 : GS_GEMM_COMPUTE_F32;
        return true;
    case CUBLAS_COMPUTE_64F:
        *found = GS_GEMM_COMPUTE_F64;
        return true;
    case CUBLAS_COMPUTE_32I:
        *found = GS_GEMM_COMPUTE_S32;
        return true;
    default:
        return false;
    }
}

static double half_value(unsigned short half)
{
    const int exponent = half >> 10 & 31;
    const double fraction = half & 1023, sign = half & 0x8000 ? -1 : 1;

    if (exponent == 31)
        return sign * (fraction != 0 ? (double)NAN : (double)INFINITY);
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static double scalar_value(const struct scalar *scalar, cudaDataType type)
{
    unsigned short half;
    double f64;
    float f32;
    int s32;

    memcpy(&half, scalar->bits, sizeof(half));
    memcpy(&f32, scalar->bits, sizeof(f32));
    memcpy(&f64, scalar->bits, sizeof(f64));
    memcpy(&s32, scalar->bits, sizeof(s32));
    return type == CUDA_R_64F   ? f64
           : type == CUDA_R_32F ? (double)f32
           : type == CUDA_R_32I ? s32
                                : half_value(half);
}

static gs_gemm_matrix matrix_of(const struct operand *operand)
{
    return (gs_gemm_matrix){operand->address, (uint64_t)operand->ld, (uint64_t)operand->stride};
}

bool vendor_gemm(cublasHandle_t handle, const struct operation *op)
{
    gs_gemm_params params = GS_GEMM_PARAMS_INIT;

    if (op->fill != FILL_ALL || op->a.array || op->b.array || op->c.array ||
        op->a.type != op->b.type || !compute_find(op, &params.compute) ||
        !type_find(op->a.type, &params.inputs) || !type_find(op->c.type, &params.output) ||
        (op->scalar_type != CUDA_R_16F && op->scalar_type != CUDA_R_32F &&
         op->scalar_type != CUDA_R_64F && op->scalar_type != CUDA_R_32I))
        return false;
    params.transpose_a = op->transa != CUBLAS_OP_N;
    params.transpose_b = op->transb != CUBLAS_OP_N;
    params.m = (unsigned)op->m;
    params.n = (unsigned)op->n;
    params.k = (unsigned)op->k;
    params.batch = (unsigned)op->batch;
    params.a = matrix_of(&op->a);
    params.b = matrix_of(&op->b);
    params.c = matrix_of(&op->c);
    params.alpha = scalar_value(&op->alpha, op->scalar_type);
    params.beta = scalar_value(&op->beta, op->scalar_type);
    params.alpha_at = op->alpha.address;
    params.beta_at = op->beta.address;
    /* With an alpha of 0 cuBLAS' gemm does not read A and B, which may be NULL, whereas cuBLASLt,
     * which the server calls, reads them and propagates a NaN. */
    if (params.alpha_at == 0 && params.alpha == 0)
        return false;
    return gs_cuda_gemm(&params, handle->stream) == GS_OK;
}
