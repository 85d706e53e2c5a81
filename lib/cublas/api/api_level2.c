/* api_level2.c - a matrix and vectors. */
#include "cublas/api/api.h"

/* ---- gemv, for one, by array and by stride; vectors of 16 bits are void here ----------------- */

struct strides {
    long long a, x, y;
    bool array;
};

static cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n,
                           const void *alpha, const void *a, int64_t lda, const void *x,
                           int64_t incx, const void *beta, const void *y, int64_t incy,
                           struct strides strides, int64_t batch, cudaDataType type,
                           cudaDataType y_type)
{
    struct operation op = operation_of(OPERATOR_GEMV);

    op.transa = trans;
    op.m = m, op.n = n, op.batch = batch;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(x, incx, type);
    op.c = operand_of(y, incy, y_type);
    op.a.stride = strides.a, op.b.stride = strides.x, op.c.stride = strides.y;
    op.a.array = op.b.array = op.c.array = strides.array;
    operation_scalars(&op, handle, alpha, beta, type_size(type) == 2 ? CUDA_R_32F : type);
    return operation_run(handle, &op);
}

#define GEMV(form, N, S, T, type)                                                                  \
    CUBLAS_API cublasStatus_t cublas##S##gemv_v2##form(                                            \
        cublasHandle_t handle, cublasOperation_t trans, N m, N n, const T *alpha, const T *a,      \
        N lda, const T *x, N incx, const T *beta, T *y, N incy)                                    \
    {                                                                                              \
        return gemv(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy,                    \
                    (struct strides){0, 0, 0, false}, 1, type, type);                              \
    }

/* A and x have type T, y has type Y, scalars have type X. */
#define GEMV_BATCHED(form, N, S, T, Y, X, type, y_type)                                            \
    CUBLAS_API cublasStatus_t cublas##S##gemvBatched##form(                                        \
        cublasHandle_t handle, cublasOperation_t trans, N m, N n, const X *alpha,                  \
        const T *const a[], N lda, const T *const x[], N incx, const X *beta, Y *const y[],        \
        N incy, N batch)                                                                           \
    {                                                                                              \
        return gemv(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy,                    \
                    (struct strides){0, 0, 0, true}, batch, type, y_type);                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##gemvStridedBatched##form(                                 \
        cublasHandle_t handle, cublasOperation_t trans, N m, N n, const X *alpha, const T *a,      \
        N lda, long long a_stride, const T *x, N incx, long long x_stride, const X *beta, Y *y,    \
        N incy, long long y_stride, N batch)                                                       \
    {                                                                                              \
        return gemv(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy,                    \
                    (struct strides){a_stride, x_stride, y_stride, false}, batch, type, y_type);   \
    }

BOTH_FORMS(GEMV, S, float, CUDA_R_32F)
BOTH_FORMS(GEMV, D, double, CUDA_R_64F)
BOTH_FORMS(GEMV_BATCHED, S, float, float, float, CUDA_R_32F, CUDA_R_32F)
BOTH_FORMS(GEMV_BATCHED, D, double, double, double, CUDA_R_64F, CUDA_R_64F)
BOTH_FORMS(GEMV, C, cuComplex, CUDA_C_32F)
BOTH_FORMS(GEMV, Z, cuDoubleComplex, CUDA_C_64F)
BOTH_FORMS(GEMV_BATCHED, C, cuComplex, cuComplex, cuComplex, CUDA_C_32F, CUDA_C_32F)
BOTH_FORMS(GEMV_BATCHED, Z, cuDoubleComplex, cuDoubleComplex, cuDoubleComplex, CUDA_C_64F,
           CUDA_C_64F)
BOTH_FORMS(GEMV_BATCHED, HSH, void, void, float, CUDA_R_16F, CUDA_R_16F)
BOTH_FORMS(GEMV_BATCHED, HSS, void, float, float, CUDA_R_16F, CUDA_R_32F)
BOTH_FORMS(GEMV_BATCHED, TST, void, void, float, CUDA_R_16BF, CUDA_R_16BF)
BOTH_FORMS(GEMV_BATCHED, TSS, void, float, float, CUDA_R_16BF, CUDA_R_32F)

/* ---- Rank 1 and 2 ---------------------------------------------------------------------------- */

static struct operation ger(cublasHandle_t handle, int64_t m, int64_t n, const void *alpha,
                            const void *x, int64_t incx, const void *y, int64_t incy, void *a,
                            int64_t lda, cudaDataType type)
{
    struct operation op = operation_of(OPERATOR_GER);

    op.m = m, op.n = n;
    op.a = operand_of(x, incx, type);
    op.b = operand_of(y, incy, type);
    op.c = operand_of(a, lda, type);
    operation_scalars(&op, handle, alpha, alpha, type);
    return op;
}

static cublasStatus_t syr(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                          const void *alpha, const void *x, int64_t incx, const void *y,
                          int64_t incy, void *a, int64_t lda, cudaDataType type)
{
    struct operation op = ger(handle, n, n, alpha, x, incx, y, incy, a, lda, type);

    op.fill = fill_of(&op, uplo);
    return operation_run(handle, &op);
}

/* Adds alpha x y' and then alpha y x'. */
static cublasStatus_t syr2(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                           const void *alpha, const void *x, int64_t incx, const void *y,
                           int64_t incy, void *a, int64_t lda, cudaDataType type)
{
    cublasStatus_t status = syr(handle, uplo, n, alpha, x, incx, y, incy, a, lda, type);

    if (status == CUBLAS_STATUS_SUCCESS)
        status = syr(handle, uplo, n, alpha, y, incy, x, incx, a, lda, type);
    return status;
}

/* Adds alpha x y' and, with `both` (her2), the conjugate transpose of that. */
static cublasStatus_t her(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                          const void *alpha, cudaDataType alpha_type, const void *x, int64_t incx,
                          const void *y, int64_t incy, bool both, void *a, int64_t lda,
                          cudaDataType type)
{
    static const double none[2]; /* a zero of `type`, which alpha need not have */
    struct operation op = ger(handle, n, n, none, x, incx, y, incy, a, lda, type);
    cublasStatus_t status;

    operation_scalars(&op, handle, alpha, alpha, alpha_type);
    op.transb = CUBLAS_OP_C;
    op.fill = fill_of(&op, uplo);
    op.hermitian = true;
    status = operation_run(handle, &op);
    if (status != CUBLAS_STATUS_SUCCESS || !both)
        return status;
    op.a = operand_of(y, incy, type);
    op.b = operand_of(x, incx, type);
    op.alpha.conjugated = true;
    return operation_run(handle, &op);
}

static cublasStatus_t symv(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                           const void *alpha, const void *a, int64_t lda, const void *x,
                           int64_t incx, const void *beta, void *y, int64_t incy, bool hermitian,
                           cudaDataType type)
{
    struct operation op = operation_of(OPERATOR_SYMV);

    op.m = n;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(x, incx, type);
    op.c = operand_of(y, incy, type);
    op.fill = fill_of(&op, uplo);
    op.hermitian = hermitian;
    operation_scalars(&op, handle, alpha, beta, type);
    return operation_run(handle, &op);
}

/* trsv or trmv. */
static cublasStatus_t triangular(enum operator_name name, cublasHandle_t handle,
                                 cublasFillMode_t uplo, cublasOperation_t trans,
                                 cublasDiagType_t diag, int64_t n, const void *a, int64_t lda,
                                 void *x, int64_t incx, cudaDataType type)
{
    struct operation op = operation_of(name);

    op.transa = trans;
    op.diag = diag;
    op.fill = fill_of(&op, uplo);
    op.m = n;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(x, incx, type);
    operation_ones(&op, type);
    return operation_run(handle, &op);
}

#define GER(form, N, name, T, type, trans)                                                         \
    CUBLAS_API cublasStatus_t cublas##name##_v2##form(cublasHandle_t handle, N m, N n,             \
                                                      const T *alpha, const T *x, N incx,          \
                                                      const T *y, N incy, T *a, N lda)             \
    {                                                                                              \
        struct operation op = ger(handle, m, n, alpha, x, incx, y, incy, a, lda, type);            \
                                                                                                   \
        op.transb = trans;                                                                         \
        return operation_run(handle, &op);                                                         \
    }

BOTH_FORMS(GER, Sger, float, CUDA_R_32F, CUBLAS_OP_T)
BOTH_FORMS(GER, Dger, double, CUDA_R_64F, CUBLAS_OP_T)
BOTH_FORMS(GER, Cgeru, cuComplex, CUDA_C_32F, CUBLAS_OP_T)
BOTH_FORMS(GER, Cgerc, cuComplex, CUDA_C_32F, CUBLAS_OP_C)
BOTH_FORMS(GER, Zgeru, cuDoubleComplex, CUDA_C_64F, CUBLAS_OP_T)
BOTH_FORMS(GER, Zgerc, cuDoubleComplex, CUDA_C_64F, CUBLAS_OP_C)

#define SYMMETRIC(form, N, S, T, type)                                                             \
    CUBLAS_API cublasStatus_t cublas##S##symv_v2##form(                                            \
        cublasHandle_t handle, cublasFillMode_t uplo, N n, const T *alpha, const T *a, N lda,      \
        const T *x, N incx, const T *beta, T *y, N incy)                                           \
    {                                                                                              \
        return symv(handle, uplo, n, alpha, a, lda, x, incx, beta, y, incy, false, type);          \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##syr_v2##form(cublasHandle_t handle,                       \
                                                      cublasFillMode_t uplo, N n, const T *alpha,  \
                                                      const T *x, N incx, T *a, N lda)             \
    {                                                                                              \
        return syr(handle, uplo, n, alpha, x, incx, x, incx, a, lda, type);                        \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##syr2_v2##form(                                            \
        cublasHandle_t handle, cublasFillMode_t uplo, N n, const T *alpha, const T *x, N incx,     \
        const T *y, N incy, T *a, N lda)                                                           \
    {                                                                                              \
        return syr2(handle, uplo, n, alpha, x, incx, y, incy, a, lda, type);                       \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##trsv_v2##form(                                            \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
        cublasDiagType_t diag, N n, const T *a, N lda, T *x, N incx)                               \
    {                                                                                              \
        return triangular(OPERATOR_TRSV, handle, uplo, trans, diag, n, a, lda, x, incx, type);     \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##trmv_v2##form(                                            \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
        cublasDiagType_t diag, N n, const T *a, N lda, T *x, N incx)                               \
    {                                                                                              \
        return triangular(OPERATOR_TRMV, handle, uplo, trans, diag, n, a, lda, x, incx, type);     \
    }

BOTH_FORMS(SYMMETRIC, S, float, CUDA_R_32F)
BOTH_FORMS(SYMMETRIC, D, double, CUDA_R_64F)
BOTH_FORMS(SYMMETRIC, C, cuComplex, CUDA_C_32F)
BOTH_FORMS(SYMMETRIC, Z, cuDoubleComplex, CUDA_C_64F)

#define HERMITIAN(form, N, S, T, R, type, real)                                                    \
    CUBLAS_API cublasStatus_t cublas##S##hemv_v2##form(                                            \
        cublasHandle_t handle, cublasFillMode_t uplo, N n, const T *alpha, const T *a, N lda,      \
        const T *x, N incx, const T *beta, T *y, N incy)                                           \
    {                                                                                              \
        return symv(handle, uplo, n, alpha, a, lda, x, incx, beta, y, incy, true, type);           \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##her_v2##form(cublasHandle_t handle,                       \
                                                      cublasFillMode_t uplo, N n, const R *alpha,  \
                                                      const T *x, N incx, T *a, N lda)             \
    {                                                                                              \
        return her(handle, uplo, n, alpha, real, x, incx, x, incx, false, a, lda, type);           \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##her2_v2##form(                                            \
        cublasHandle_t handle, cublasFillMode_t uplo, N n, const T *alpha, const T *x, N incx,     \
        const T *y, N incy, T *a, N lda)                                                           \
    {                                                                                              \
        return her(handle, uplo, n, alpha, type, x, incx, y, incy, true, a, lda, type);            \
    }

BOTH_FORMS(HERMITIAN, C, cuComplex, float, CUDA_C_32F, CUDA_R_32F)
BOTH_FORMS(HERMITIAN, Z, cuDoubleComplex, double, CUDA_C_64F, CUDA_R_64F)
