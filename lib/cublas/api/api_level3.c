/*
 * api_level3.c - symmetric and Hermitian products, triangular systems and products, sums of
 * matrices and diagonal products.
 */
#include "cublas/api/api.h"

/* ---- Symmetric products: one triangle of alpha op(A) op(B)' + beta C ------------------------- */

static struct operation syrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                             int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                             const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc,
                             cudaDataType type)
{
    struct operation op = operation_of(OPERATOR_GEMM);

    op.transa = trans;
    op.transb = trans == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
    op.m = op.n = n, op.k = k;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(b, ldb, type);
    op.c = operand_of(c, ldc, type);
    op.fill = fill_of(&op, uplo);
    op.compute = type == CUDA_R_64F || type == CUDA_C_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
    operation_scalars(&op, handle, alpha, beta, type);
    return op;
}

/* Makes the record for a Hermitian C. Its beta is real, and its alpha may be. */
static struct operation herk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                             int64_t n, int64_t k, const void *alpha, cudaDataType alpha_type,
                             const void *a, int64_t lda, const void *b, int64_t ldb,
                             const void *beta, cudaDataType beta_type, void *c, int64_t ldc,
                             cudaDataType type)
{
    static const double none[2]; /* a zero of `type`, which the caller's scalars need not have */
    struct operation op = syrk(handle, uplo, trans, n, k, none, a, lda, b, ldb, none, c, ldc, type);

    op.transb = trans == CUBLAS_OP_N ? CUBLAS_OP_C : CUBLAS_OP_N;
    op.hermitian = true;
    op.invalid |= trans == CUBLAS_OP_T;
    operation_scalars(&op, handle, alpha, alpha, alpha_type);
    operation_beta(&op, handle, beta, beta_type);
    op.scalar_type = type;
    return op;
}

/* Computes op(A) op(B)' and then adds op(B) op(A)'; for a Hermitian C with conjugate transposes. */
static cublasStatus_t syr2k(cublasHandle_t handle, struct operation op)
{
    cublasStatus_t status = operation_run(handle, &op);
    struct operand a = op.a;
    struct scalar alpha = op.alpha;

    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    op.a = op.b, op.b = a;
    operation_ones(&op, op.scalar_type);
    op.alpha = alpha;
    op.alpha.conjugated = op.hermitian;
    return operation_run(handle, &op);
}

#define SYMMETRIC(form, N, S, T, type)                                                             \
    CUBLAS_API cublasStatus_t cublas##S##syrk_v2##form(                                            \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, N n, N k,           \
        const T *alpha, const T *a, N lda, const T *beta, T *c, N ldc)                             \
    {                                                                                              \
        struct operation op =                                                                      \
            syrk(handle, uplo, trans, n, k, alpha, a, lda, a, lda, beta, c, ldc, type);            \
                                                                                                   \
        return operation_run(handle, &op);                                                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##syrkx##form(                                              \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, N n, N k,           \
        const T *alpha, const T *a, N lda, const T *b, N ldb, const T *beta, T *c, N ldc)          \
    {                                                                                              \
        struct operation op =                                                                      \
            syrk(handle, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc, type);            \
                                                                                                   \
        return operation_run(handle, &op);                                                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##syr2k_v2##form(                                           \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, N n, N k,           \
        const T *alpha, const T *a, N lda, const T *b, N ldb, const T *beta, T *c, N ldc)          \
    {                                                                                              \
        return syr2k(handle,                                                                       \
                     syrk(handle, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc, type));  \
    }

BOTH_FORMS(SYMMETRIC, S, float, CUDA_R_32F)
BOTH_FORMS(SYMMETRIC, D, double, CUDA_R_64F)
BOTH_FORMS(SYMMETRIC, C, cuComplex, CUDA_C_32F)
BOTH_FORMS(SYMMETRIC, Z, cuDoubleComplex, CUDA_C_64F)

#define HERMITIAN(form, N, S, T, R, type, real)                                                    \
    CUBLAS_API cublasStatus_t cublas##S##herk_v2##form(                                            \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, N n, N k,           \
        const R *alpha, const T *a, N lda, const R *beta, T *c, N ldc)                             \
    {                                                                                              \
        struct operation op = herk(handle, uplo, trans, n, k, alpha, real, a, lda, a, lda, beta,   \
                                   real, c, ldc, type);                                            \
                                                                                                   \
        return operation_run(handle, &op);                                                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##herkx##form(                                              \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, N n, N k,           \
        const T *alpha, const T *a, N lda, const T *b, N ldb, const R *beta, T *c, N ldc)          \
    {                                                                                              \
        struct operation op = herk(handle, uplo, trans, n, k, alpha, type, a, lda, b, ldb, beta,   \
                                   real, c, ldc, type);                                            \
                                                                                                   \
        return operation_run(handle, &op);                                                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##her2k_v2##form(                                           \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, N n, N k,           \
        const T *alpha, const T *a, N lda, const T *b, N ldb, const R *beta, T *c, N ldc)          \
    {                                                                                              \
        return syr2k(handle, herk(handle, uplo, trans, n, k, alpha, type, a, lda, b, ldb, beta,    \
                                  real, c, ldc, type));                                            \
    }

BOTH_FORMS(HERMITIAN, C, cuComplex, float, CUDA_C_32F, CUDA_R_32F)
BOTH_FORMS(HERMITIAN, Z, cuDoubleComplex, double, CUDA_C_64F, CUDA_R_64F)

/* ---- Products with a symmetric, Hermitian or triangular matrix ------------------------------- */

static cublasStatus_t symm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                           int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda,
                           const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc,
                           bool hermitian, cudaDataType type)
{
    struct operation op = operation_of(OPERATOR_SYMM);

    op.side = side;
    op.fill = fill_of(&op, uplo);
    op.hermitian = hermitian;
    op.m = m, op.n = n;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(b, ldb, type);
    op.c = operand_of(c, ldc, type);
    operation_scalars(&op, handle, alpha, beta, type);
    return operation_run(handle, &op);
}

static cublasStatus_t trmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                           cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n,
                           const void *alpha, const void *a, int64_t lda, const void *b,
                           int64_t ldb, void *c, int64_t ldc, cudaDataType type)
{
    struct operation op = operation_of(OPERATOR_TRMM);

    op.side = side;
    op.fill = fill_of(&op, uplo);
    op.transa = trans;
    op.diag = diag;
    op.m = m, op.n = n;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(b, ldb, type);
    op.c = operand_of(c, ldc, type);
    operation_scalars(&op, handle, alpha, alpha, type);
    return operation_run(handle, &op);
}

#define SYMM(form, N, name, T, type, hermitian)                                                    \
    CUBLAS_API cublasStatus_t cublas##name##_v2##form(                                             \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, N m, N n,             \
        const T *alpha, const T *a, N lda, const T *b, N ldb, const T *beta, T *c, N ldc)          \
    {                                                                                              \
        return symm(handle, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, hermitian,      \
                    type);                                                                         \
    }
#define TRMM(form, N, S, T, type)                                                                  \
    CUBLAS_API cublasStatus_t cublas##S##trmm_v2##form(                                            \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                       \
        cublasOperation_t trans, cublasDiagType_t diag, N m, N n, const T *alpha, const T *a,      \
        N lda, const T *b, N ldb, T *c, N ldc)                                                     \
    {                                                                                              \
        return trmm(handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, c, ldc, type);   \
    }

BOTH_FORMS(SYMM, Ssymm, float, CUDA_R_32F, false)
BOTH_FORMS(SYMM, Dsymm, double, CUDA_R_64F, false)
BOTH_FORMS(SYMM, Csymm, cuComplex, CUDA_C_32F, false)
BOTH_FORMS(SYMM, Zsymm, cuDoubleComplex, CUDA_C_64F, false)
BOTH_FORMS(SYMM, Chemm, cuComplex, CUDA_C_32F, true)
BOTH_FORMS(SYMM, Zhemm, cuDoubleComplex, CUDA_C_64F, true)
BOTH_FORMS(TRMM, S, float, CUDA_R_32F)
BOTH_FORMS(TRMM, D, double, CUDA_R_64F)
BOTH_FORMS(TRMM, C, cuComplex, CUDA_C_32F)
BOTH_FORMS(TRMM, Z, cuDoubleComplex, CUDA_C_64F)

/* ---- Triangular systems ---------------------------------------------------------------------- */

static cublasStatus_t trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                           cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n,
                           const void *alpha, const void *a, int64_t lda, const void *b,
                           int64_t ldb, bool array, int64_t batch, cudaDataType type)
{
    struct operation op = operation_of(OPERATOR_TRSM);

    op.side = side;
    op.fill = fill_of(&op, uplo);
    op.transa = trans;
    op.diag = diag;
    op.m = m, op.n = n, op.batch = batch;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(b, ldb, type);
    op.a.array = op.b.array = array;
    operation_scalars(&op, handle, alpha, alpha, type);
    return operation_run(handle, &op);
}

#define TRIANGULAR(form, N, S, T, type)                                                            \
    CUBLAS_API cublasStatus_t cublas##S##trsm_v2##form(                                            \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                       \
        cublasOperation_t trans, cublasDiagType_t diag, N m, N n, const T *alpha, const T *a,      \
        N lda, T *b, N ldb)                                                                        \
    {                                                                                              \
        return trsm(handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, false, 1, type); \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##trsmBatched##form(                                        \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                       \
        cublasOperation_t trans, cublasDiagType_t diag, N m, N n, const T *alpha,                  \
        const T *const a[], N lda, T *const b[], N ldb, N batch)                                   \
    {                                                                                              \
        return trsm(handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, true, batch,     \
                    type);                                                                         \
    }

BOTH_FORMS(TRIANGULAR, S, float, CUDA_R_32F)
BOTH_FORMS(TRIANGULAR, D, double, CUDA_R_64F)
BOTH_FORMS(TRIANGULAR, C, cuComplex, CUDA_C_32F)
BOTH_FORMS(TRIANGULAR, Z, cuDoubleComplex, CUDA_C_64F)

/* ---- Element by element ---------------------------------------------------------------------- */

static cublasStatus_t geam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int64_t m, int64_t n, const void *alpha,
                           const void *a, int64_t lda, const void *beta, const void *b, int64_t ldb,
                           void *c, int64_t ldc, cudaDataType type)
{
    struct operation op = operation_of(OPERATOR_GEAM);

    op.transa = transa, op.transb = transb;
    op.m = m, op.n = n;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(b, ldb, type);
    op.c = operand_of(c, ldc, type);
    operation_scalars(&op, handle, alpha, beta, type);
    return operation_run(handle, &op);
}

static cublasStatus_t dgmm(cublasHandle_t handle, cublasSideMode_t side, int64_t m, int64_t n,
                           const void *a, int64_t lda, const void *x, int64_t incx, void *c,
                           int64_t ldc, cudaDataType type)
{
    struct operation op = operation_of(OPERATOR_DGMM);

    op.side = side;
    op.m = m, op.n = n;
    op.a = operand_of(a, lda, type);
    op.b = operand_of(x, incx, type);
    op.c = operand_of(c, ldc, type);
    return operation_run(handle, &op);
}

#define ELEMENTWISE(form, N, S, T, type)                                                           \
    CUBLAS_API cublasStatus_t cublas##S##geam##form(                                               \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, N m, N n,       \
        const T *alpha, const T *a, N lda, const T *beta, const T *b, N ldb, T *c, N ldc)          \
    {                                                                                              \
        return geam(handle, transa, transb, m, n, alpha, a, lda, beta, b, ldb, c, ldc, type);      \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##dgmm##form(cublasHandle_t handle, cublasSideMode_t side,  \
                                                    N m, N n, const T *a, N lda, const T *x,       \
                                                    N incx, T *c, N ldc)                           \
    {                                                                                              \
        return dgmm(handle, side, m, n, a, lda, x, incx, c, ldc, type);                            \
    }

BOTH_FORMS(ELEMENTWISE, S, float, CUDA_R_32F)
BOTH_FORMS(ELEMENTWISE, D, double, CUDA_R_64F)
BOTH_FORMS(ELEMENTWISE, C, cuComplex, CUDA_C_32F)
BOTH_FORMS(ELEMENTWISE, Z, cuDoubleComplex, CUDA_C_64F)

/* Functions with types by parameter, for complex numbers of f32 only. X is syrk or herk, R the type
 * of its scalars.
 */
#define TYPED(form, N, Ex, X, R)                                                                   \
    CUBLAS_API cublasStatus_t cublas##Ex##form(cublasHandle_t handle, cublasFillMode_t uplo,       \
                                               cublasOperation_t trans, N n, N k, const R *alpha,  \
                                               const void *a, cudaDataType a_type, N lda,          \
                                               const R *beta, void *c, cudaDataType c_type, N ldc) \
    {                                                                                              \
        if (handle != NULL && (a_type != CUDA_C_32F || c_type != CUDA_C_32F))                      \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return cublas##X##_v2##form(handle, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);       \
    }

BOTH_FORMS(TYPED, CsyrkEx, Csyrk, cuComplex)
BOTH_FORMS(TYPED, Csyrk3mEx, Csyrk, cuComplex)
BOTH_FORMS(TYPED, CherkEx, Cherk, float)
BOTH_FORMS(TYPED, Cherk3mEx, Cherk, float)
