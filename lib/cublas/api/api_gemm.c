/* api_gemm.c - products of matrices, in all their forms. */
#include "cublas/api/api.h"

/* The types of a call's operands, and how it computes. */
struct types {
    cudaDataType a, b, c, scalars;
    cublasComputeType_t compute;
};

static const struct types
    types_f32 = {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    types_f64 = {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    types_c32 = {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F},
    types_c64 = {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F},
    types_f16 = {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F};

/* Returns the types of a call that names them. Scalars have the type in which sums are computed. */
static struct types types_of(cudaDataType a, cudaDataType b, cudaDataType c,
                             cublasComputeType_t compute)
{
    struct types types = {a, b, c, CUDA_R_32F, compute};

    if (a == CUDA_C_32F || a == CUDA_C_64F) {
        types.scalars = a;
        return types;
    }
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        types.scalars = CUDA_R_16F;
        break;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
#ifndef GS_CUDART_12
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
#endif
        types.scalars = CUDA_R_64F;
        break;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        types.scalars = CUDA_R_32I;
        break;
    default:
        break;
    }
    return types;
}

/* A batch of matrices that are a stride apart, or whose addresses are in arrays. */
struct batch {
    int64_t count;
    long long a, b, c;
    bool array;
};
static const struct batch one = {1, 0, 0, 0, false};

#define ARRAY(count)            ((struct batch){count, 0, 0, 0, true})
#define STRIDED(count, a, b, c) ((struct batch){count, a, b, c, false})

static cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                           const void *alpha, const void *a, int64_t lda, const void *b,
                           int64_t ldb, const void *beta, const void *c, int64_t ldc,
                           struct types types, struct batch batch)
{
    struct operation op = operation_of(OPERATOR_GEMM);

    op.transa = transa, op.transb = transb;
    op.m = m, op.n = n, op.k = k, op.batch = batch.count;
    op.a = operand_of(a, lda, types.a);
    op.b = operand_of(b, ldb, types.b);
    op.c = operand_of(c, ldc, types.c);
    op.a.stride = batch.a, op.b.stride = batch.b, op.c.stride = batch.c;
    op.a.array = op.b.array = op.c.array = batch.array;
    op.compute = types.compute;
    if (handle != NULL && handle->math_mode == CUBLAS_TF32_TENSOR_OP_MATH &&
        types.a == CUDA_R_32F && types.compute == CUBLAS_COMPUTE_32F)
        op.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
    operation_scalars(&op, handle, alpha, beta, types.scalars);
    return operation_run(handle, &op);
}

/* T is void for numbers of 16 bits, whose types are the toolkit's. */
#define BATCHED(form, N, name, T, types)                                                           \
    CUBLAS_API cublasStatus_t cublas##name##Batched##form(                                         \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, N m, N n, N k,  \
        const T *alpha, const T *const a[], N lda, const T *const b[], N ldb, const T *beta,       \
        T *const c[], N ldc, N batch)                                                              \
    {                                                                                              \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, types,   \
                    ARRAY(batch));                                                                 \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##name##StridedBatched##form(                                  \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, N m, N n, N k,  \
        const T *alpha, const T *a, N lda, long long a_stride, const T *b, N ldb,                  \
        long long b_stride, const T *beta, T *c, N ldc, long long c_stride, N batch)               \
    {                                                                                              \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, types,   \
                    STRIDED(batch, a_stride, b_stride, c_stride));                                 \
    }

#define PLAIN(form, N, name, T, types)                                                             \
    CUBLAS_API cublasStatus_t cublas##name##form(                                                  \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, N m, N n, N k,  \
        const T *alpha, const T *a, N lda, const T *b, N ldb, const T *beta, T *c, N ldc)          \
    {                                                                                              \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, types,   \
                    one);                                                                          \
    }

BOTH_FORMS(PLAIN, Sgemm_v2, float, types_f32)
BOTH_FORMS(PLAIN, Dgemm_v2, double, types_f64)
BOTH_FORMS(PLAIN, Hgemm, void, types_f16)
BOTH_FORMS(BATCHED, Sgemm, float, types_f32)
BOTH_FORMS(BATCHED, Dgemm, double, types_f64)
BOTH_FORMS(BATCHED, Hgemm, void, types_f16)

BOTH_FORMS(PLAIN, Cgemm_v2, cuComplex, types_c32)
BOTH_FORMS(PLAIN, Zgemm_v2, cuDoubleComplex, types_c64)
BOTH_FORMS(PLAIN, Cgemm3m, cuComplex, types_c32)
BOTH_FORMS(PLAIN, Zgemm3m, cuDoubleComplex, types_c64)
BOTH_FORMS(BATCHED, Cgemm, cuComplex, types_c32)
BOTH_FORMS(BATCHED, Zgemm, cuDoubleComplex, types_c64)
BOTH_FORMS(BATCHED, Cgemm3m, cuComplex, types_c32)

/* ---- Types by parameter. Which algorithm is asked for does not matter ------------------------ */

/* There are no kernels for complex numbers with parts of 8 bits. */
#define COMPLEX_TYPED(form, N, name)                                                               \
    CUBLAS_API cublasStatus_t cublas##name##form(                                                  \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, N m, N n, N k,  \
        const cuComplex *alpha, const void *a, cudaDataType a_type, N lda, const void *b,          \
        cudaDataType b_type, N ldb, const cuComplex *beta, void *c, cudaDataType c_type, N ldc)    \
    {                                                                                              \
        if (handle != NULL &&                                                                      \
            (a_type != CUDA_C_32F || b_type != CUDA_C_32F || c_type != CUDA_C_32F))                \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,          \
                    types_c32, one);                                                               \
    }

BOTH_FORMS(COMPLEX_TYPED, CgemmEx)
BOTH_FORMS(COMPLEX_TYPED, Cgemm3mEx)

#define TYPED(form, N, unused)                                                                     \
    CUBLAS_API cublasStatus_t cublasSgemmEx##form(                                                 \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, N m, N n, N k,  \
        const float *alpha, const void *a, cudaDataType a_type, N lda, const void *b,              \
        cudaDataType b_type, N ldb, const float *beta, void *c, cudaDataType c_type, N ldc)        \
    {                                                                                              \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,          \
                    types_of(a_type, b_type, c_type, CUBLAS_COMPUTE_32F), one);                    \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublasGemmEx##form(                                                  \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, N m, N n, N k,  \
        const void *alpha, const void *a, cudaDataType a_type, N lda, const void *b,               \
        cudaDataType b_type, N ldb, const void *beta, void *c, cudaDataType c_type, N ldc,         \
        cublasComputeType_t compute, cublasGemmAlgo_t algorithm)                                   \
    {                                                                                              \
        (void)algorithm;                                                                           \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,          \
                    types_of(a_type, b_type, c_type, compute), one);                               \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublasGemmBatchedEx##form(                                           \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, N m, N n, N k,  \
        const void *alpha, const void *const a[], cudaDataType a_type, N lda,                      \
        const void *const b[], cudaDataType b_type, N ldb, const void *beta, void *const c[],      \
        cudaDataType c_type, N ldc, N batch, cublasComputeType_t compute,                          \
        cublasGemmAlgo_t algorithm)                                                                \
    {                                                                                              \
        (void)algorithm;                                                                           \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,          \
                    types_of(a_type, b_type, c_type, compute), ARRAY(batch));                      \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublasGemmStridedBatchedEx##form(                                    \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, N m, N n, N k,  \
        const void *alpha, const void *a, cudaDataType a_type, N lda, long long a_stride,          \
        const void *b, cudaDataType b_type, N ldb, long long b_stride, const void *beta, void *c,  \
        cudaDataType c_type, N ldc, long long c_stride, N batch, cublasComputeType_t compute,      \
        cublasGemmAlgo_t algorithm)                                                                \
    {                                                                                              \
        (void)algorithm;                                                                           \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,          \
                    types_of(a_type, b_type, c_type, compute),                                     \
                    STRIDED(batch, a_stride, b_stride, c_stride));                                 \
    }

BOTH_FORMS(TYPED, )

/* ---- Groups of batches, of other sizes each -------------------------------------------------- */

#define GROUPED(form, N, name, T, P, extra, element, ...)                                          \
    CUBLAS_API cublasStatus_t cublas##name##form(P(N, T, extra))                                   \
    {                                                                                              \
        int64_t first = 0;                                                                         \
        cublasStatus_t status = CUBLAS_STATUS_SUCCESS;                                             \
                                                                                                   \
        if (handle == NULL)                                                                        \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        if (groups < 0)                                                                            \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        for (N g = 0; g < groups && status == CUBLAS_STATUS_SUCCESS; g++) {                        \
            status = gemm(handle, transa[g], transb[g], m[g], n[g], k[g],                          \
                          (const char *)alpha + g * (N)(element), a + first, lda[g], b + first,    \
                          ldb[g], (const char *)beta + g * (N)(element), c + first, ldc[g],        \
                          __VA_ARGS__, ARRAY(size[g]));                                            \
            first += size[g];                                                                      \
        }                                                                                          \
        return status;                                                                             \
    }
#define GROUPED_PARAMS(N, T, extra)                                                                \
    cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[],     \
        const N m[], const N n[], const N k[], const T alpha[], const T *const a[], const N lda[], \
        const T *const b[], const N ldb[], const T beta[], T *const c[], const N ldc[], N groups,  \
        const N size[]
#define GROUPED_EX_PARAMS(N, T, extra)                                                             \
    cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[],     \
        const N m[], const N n[], const N k[], const void *alpha, const void *const a[],           \
        cudaDataType a_type, const N lda[], const void *const b[], cudaDataType b_type,            \
        const N ldb[], const void *beta, void *const c[], cudaDataType c_type, const N ldc[],      \
        N groups, const N size[], cublasComputeType_t compute

BOTH_FORMS(GROUPED, SgemmGroupedBatched, float, GROUPED_PARAMS, , sizeof(float), types_f32)
BOTH_FORMS(GROUPED, DgemmGroupedBatched, double, GROUPED_PARAMS, , sizeof(double), types_f64)
BOTH_FORMS(GROUPED, GemmGroupedBatchedEx, void, GROUPED_EX_PARAMS, ,
           type_size(types_of(a_type, b_type, c_type, compute).scalars),
           types_of(a_type, b_type, c_type, compute))
