/* api_factor.c - batches of matrices: LU and QR factorizations, and systems and inverses by
 * these. */
#include "cublas/api/api.h"

static struct operation batch_of(enum operator_name name, int64_t m, int64_t n, const void *a,
                                 int64_t lda, int64_t batch, cudaDataType type)
{
    struct operation op = operation_of(name);

    op.m = m, op.n = n, op.batch = batch;
    op.a = operand_of(a, lda, type);
    op.a.array = op.b.array = op.c.array = true;
    return op;
}

static void second_of(struct operation *op, const void *b, int64_t ldb, int64_t vectors)
{
    op->b.address = (uintptr_t)b;
    op->b.ld = ldb;
    op->k = vectors;
}

/* Sets the record's result to a number on the host, which must not be NULL. */
static void info_on_host(struct operation *op, int *info)
{
    op->result = info;
    op->invalid |= info == NULL;
}

#define FACTOR(S, T, type)                                                                         \
    CUBLAS_API cublasStatus_t cublas##S##getrfBatched(cublasHandle_t handle, int n, T *const a[],  \
                                                      int lda, int *pivots, int *info, int batch)  \
    {                                                                                              \
        struct operation op = batch_of(OPERATOR_GETRF, n, n, a, lda, batch, type);                 \
                                                                                                   \
        op.pivots = (uintptr_t)pivots, op.info = (uintptr_t)info;                                  \
        return operation_run(handle, &op);                                                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##getrsBatched(                                             \
        cublasHandle_t handle, cublasOperation_t trans, int n, int vectors, const T *const a[],    \
        int lda, const int *pivots, T *const b[], int ldb, int *info, int batch)                   \
    {                                                                                              \
        struct operation op = batch_of(OPERATOR_GETRS, n, n, a, lda, batch, type);                 \
                                                                                                   \
        op.transa = trans;                                                                         \
        op.pivots = (uintptr_t)pivots;                                                             \
        second_of(&op, b, ldb, vectors);                                                           \
        info_on_host(&op, info);                                                                   \
        return operation_run(handle, &op);                                                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##getriBatched(                                             \
        cublasHandle_t handle, int n, const T *const a[], int lda, const int *pivots,              \
        T *const inverse[], int ldi, int *info, int batch)                                         \
    {                                                                                              \
        struct operation op = batch_of(OPERATOR_GETRI, n, n, a, lda, batch, type);                 \
                                                                                                   \
        op.pivots = (uintptr_t)pivots, op.info = (uintptr_t)info;                                  \
        second_of(&op, inverse, ldi, n);                                                           \
        return operation_run(handle, &op);                                                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##matinvBatched(                                            \
        cublasHandle_t handle, int n, const T *const a[], int lda, T *const inverse[], int ldi,    \
        int *info, int batch)                                                                      \
    {                                                                                              \
        struct operation op = batch_of(OPERATOR_MATINV, n, n, a, lda, batch, type);                \
                                                                                                   \
        op.info = (uintptr_t)info;                                                                 \
        second_of(&op, inverse, ldi, n);                                                           \
        return operation_run(handle, &op);                                                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##geqrfBatched(cublasHandle_t handle, int m, int n,         \
                                                      T *const a[], int lda, T *const tau[],       \
                                                      int *info, int batch)                        \
    {                                                                                              \
        struct operation op = batch_of(OPERATOR_GEQRF, m, n, a, lda, batch, type);                 \
                                                                                                   \
        op.c.address = (uintptr_t)tau;                                                             \
        info_on_host(&op, info);                                                                   \
        return operation_run(handle, &op);                                                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##gelsBatched(                                              \
        cublasHandle_t handle, cublasOperation_t trans, int m, int n, int vectors, T *const a[],   \
        int lda, T *const b[], int ldb, int *info, int *infos, int batch)                          \
    {                                                                                              \
        struct operation op = batch_of(OPERATOR_GELS, m, n, a, lda, batch, type);                  \
                                                                                                   \
        op.transa = trans;                                                                         \
        op.info = (uintptr_t)infos;                                                                \
        second_of(&op, b, ldb, vectors);                                                           \
        info_on_host(&op, info);                                                                   \
        return operation_run(handle, &op);                                                         \
    }

FACTOR(S, float, CUDA_R_32F)
FACTOR(D, double, CUDA_R_64F)
FACTOR(C, cuComplex, CUDA_C_32F)
FACTOR(Z, cuDoubleComplex, CUDA_C_64F)
