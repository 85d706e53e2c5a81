/* api_packed.c - operations of vectors with a matrix of which a band is stored, or a triangle
 * without gaps. */
#include "cublas/api/api.h"

/* How a triangle is stored: a band of k diagonals beside the main one, or all of it, packed. */
struct stored {
    int64_t k, lda;
    bool packed;
};

static const struct stored packed = {.packed = true};

static struct stored band(int64_t k, int64_t lda)
{
    return (struct stored){.k = k, .lda = lda};
}

static struct operation triangle_operation(enum operator_name name, cublasFillMode_t uplo,
                                           int64_t n, const void *a, struct stored stored,
                                           cudaDataType type)
{
    struct operation op = operation_of(name);

    op.m = n, op.k = stored.k;
    op.packed = stored.packed;
    op.fill = fill_of(&op, uplo);
    op.a = operand_of(a, stored.lda, type);
    return op;
}

static cublasStatus_t gbmv(cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n,
                           int64_t kl, int64_t ku, const void *alpha, const void *a, int64_t lda,
                           const void *x, int64_t incx, const void *beta, void *y, int64_t incy,
                           cudaDataType type)
{
    struct operation op = operation_of(OPERATOR_GBMV);

    op.transa = trans;
    op.m = m, op.n = n, op.k = kl, op.above = ku;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(x, incx, type);
    op.c = operand_of(y, incy, type);
    operation_scalars(&op, handle, alpha, beta, type);
    return operation_run(handle, &op);
}

static cublasStatus_t sbmv(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                           const void *alpha, const void *a, struct stored stored, const void *x,
                           int64_t incx, const void *beta, void *y, int64_t incy, cudaDataType type)
{
    struct operation op = triangle_operation(OPERATOR_SBMV, uplo, n, a, stored, type);

    op.hermitian = type == CUDA_C_32F || type == CUDA_C_64F;
    op.b = operand_of(x, incx, type);
    op.c = operand_of(y, incy, type);
    operation_scalars(&op, handle, alpha, beta, type);
    return operation_run(handle, &op);
}

/* tbmv, tbsv, tpmv or tpsv. */
static cublasStatus_t triangular(enum operator_name name, cublasHandle_t handle,
                                 cublasFillMode_t uplo, cublasOperation_t trans,
                                 cublasDiagType_t diag, int64_t n, const void *a,
                                 struct stored stored, void *x, int64_t incx, cudaDataType type)
{
    struct operation op = triangle_operation(name, uplo, n, a, stored, type);

    op.transa = trans;
    op.diag = diag;
    op.b = operand_of(x, incx, type);
    operation_ones(&op, type);
    return operation_run(handle, &op);
}

/* Adds alpha x y' and, if BOTH, the (conjugate) transpose of that. */
static cublasStatus_t spr(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                          const void *alpha, cudaDataType alpha_type, const void *x, int64_t incx,
                          const void *y, int64_t incy, bool both, void *a, cudaDataType type)
{
    struct operation op = triangle_operation(OPERATOR_SPR, uplo, n, NULL, packed, type);
    cublasStatus_t status;

    op.hermitian = type == CUDA_C_32F || type == CUDA_C_64F;
    op.transb = op.hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
    op.a = operand_of(x, incx, type);
    op.b = operand_of(y, incy, type);
    op.c = operand_of(a, 0, type);
    operation_scalars(&op, handle, alpha, alpha, alpha_type);
    status = operation_run(handle, &op);
    if (status != CUBLAS_STATUS_SUCCESS || !both)
        return status;
    op.a = operand_of(y, incy, type);
    op.b = operand_of(x, incx, type);
    op.alpha.conjugated = op.hermitian;
    return operation_run(handle, &op);
}

static cublasStatus_t repack(enum operator_name name, cublasHandle_t handle, cublasFillMode_t uplo,
                             int64_t n, const void *packed_a, const void *a, int64_t lda,
                             cudaDataType type)
{
    struct operation op = triangle_operation(name, uplo, n, packed_a, packed, type);

    op.c = operand_of(a, lda, type);
    return operation_run(handle, &op);
}

#define GENERAL(form, N, S, T, type)                                                               \
    CUBLAS_API cublasStatus_t cublas##S##gbmv_v2##form(                                            \
        cublasHandle_t handle, cublasOperation_t trans, N m, N n, N kl, N ku, const T *alpha,      \
        const T *a, N lda, const T *x, N incx, const T *beta, T *y, N incy)                        \
    {                                                                                              \
        return gbmv(handle, trans, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy, type);     \
    }

/* OP is mv or sv. */
#define TRIANGULAR(form, N, S, op, name, T, type)                                                  \
    CUBLAS_API cublasStatus_t cublas##S##tb##op##_v2##form(                                        \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
        cublasDiagType_t diag, N n, N k, const T *a, N lda, T *x, N incx)                          \
    {                                                                                              \
        return triangular(name, handle, uplo, trans, diag, n, a, band(k, lda), x, incx, type);     \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##tp##op##_v2##form(                                        \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                     \
        cublasDiagType_t diag, N n, const T *a, T *x, N incx)                                      \
    {                                                                                              \
        return triangular(name, handle, uplo, trans, diag, n, a, packed, x, incx, type);           \
    }

BOTH_FORMS(GENERAL, S, float, CUDA_R_32F)
BOTH_FORMS(TRIANGULAR, S, mv, OPERATOR_TBMV, float, CUDA_R_32F)
BOTH_FORMS(TRIANGULAR, S, sv, OPERATOR_TBSV, float, CUDA_R_32F)
BOTH_FORMS(GENERAL, D, double, CUDA_R_64F)
BOTH_FORMS(TRIANGULAR, D, mv, OPERATOR_TBMV, double, CUDA_R_64F)
BOTH_FORMS(TRIANGULAR, D, sv, OPERATOR_TBSV, double, CUDA_R_64F)
BOTH_FORMS(GENERAL, C, cuComplex, CUDA_C_32F)
BOTH_FORMS(TRIANGULAR, C, mv, OPERATOR_TBMV, cuComplex, CUDA_C_32F)
BOTH_FORMS(TRIANGULAR, C, sv, OPERATOR_TBSV, cuComplex, CUDA_C_32F)
BOTH_FORMS(GENERAL, Z, cuDoubleComplex, CUDA_C_64F)
BOTH_FORMS(TRIANGULAR, Z, mv, OPERATOR_TBMV, cuDoubleComplex, CUDA_C_64F)
BOTH_FORMS(TRIANGULAR, Z, sv, OPERATOR_TBSV, cuDoubleComplex, CUDA_C_64F)

/* Symmetric matrices of real numbers (LETTER s) and Hermitian ones of complex numbers (h); R is the
 * type of the scalar of a rank 1 update. */
#define SYMMETRIC(form, N, S, LETTER, T, R, type, real)                                            \
    CUBLAS_API cublasStatus_t cublas##S##LETTER##bmv_v2##form(                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, N n, N k, const T *alpha, const T *a, N lda, \
        const T *x, N incx, const T *beta, T *y, N incy)                                           \
    {                                                                                              \
        return sbmv(handle, uplo, n, alpha, a, band(k, lda), x, incx, beta, y, incy, type);        \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##LETTER##pmv_v2##form(                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, N n, const T *alpha, const T *a, const T *x, \
        N incx, const T *beta, T *y, N incy)                                                       \
    {                                                                                              \
        return sbmv(handle, uplo, n, alpha, a, packed, x, incx, beta, y, incy, type);              \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##LETTER##pr_v2##form(                                      \
        cublasHandle_t handle, cublasFillMode_t uplo, N n, const R *alpha, const T *x, N incx,     \
        T *a)                                                                                      \
    {                                                                                              \
        return spr(handle, uplo, n, alpha, real, x, incx, x, incx, false, a, type);                \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##LETTER##pr2_v2##form(                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, N n, const T *alpha, const T *x, N incx,     \
        const T *y, N incy, T *a)                                                                  \
    {                                                                                              \
        return spr(handle, uplo, n, alpha, type, x, incx, y, incy, true, a, type);                 \
    }

BOTH_FORMS(SYMMETRIC, S, s, float, float, CUDA_R_32F, CUDA_R_32F)
BOTH_FORMS(SYMMETRIC, D, s, double, double, CUDA_R_64F, CUDA_R_64F)
BOTH_FORMS(SYMMETRIC, C, h, cuComplex, float, CUDA_C_32F, CUDA_R_32F)
BOTH_FORMS(SYMMETRIC, Z, h, cuDoubleComplex, double, CUDA_C_64F, CUDA_R_64F)

/* These functions have only one form. */
#define REPACK(S, T, type)                                                                         \
    CUBLAS_API cublasStatus_t cublas##S##tpttr(cublasHandle_t handle, cublasFillMode_t uplo,       \
                                               int n, const T *packed_a, T *a, int lda)            \
    {                                                                                              \
        return repack(OPERATOR_TPTTR, handle, uplo, n, packed_a, a, lda, type);                    \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##trttp(cublasHandle_t handle, cublasFillMode_t uplo,       \
                                               int n, const T *a, int lda, T *packed_a)            \
    {                                                                                              \
        return repack(OPERATOR_TRTTP, handle, uplo, n, packed_a, a, lda, type);                    \
    }

REPACK(S, float, CUDA_R_32F)
REPACK(D, double, CUDA_R_64F)
REPACK(C, cuComplex, CUDA_C_32F)
REPACK(Z, cuDoubleComplex, CUDA_C_64F)
