/*
 * api_xt.c - cublasXt: products whose matrices may be on the host. Whole matrices are copied to the
 * first of the devices that the program has chosen, and the result is copied back. So a call is
 * complete when it returns, as with cuBLAS, and tiles and pinning have no effect.
 */
#include <stdlib.h>

#include "cublas/api/api.h"
#include "cublas/base/runtime.h"
#include "cublas/op/operators.h"

enum { BLOCK_DIM = 2048 }; /* cuBLAS' default, which programs may query */

typedef struct cublasXtContext {
    cublasHandle_t blas; /* of the device; NULL: none has been chosen */
    int device, block_dim, pinning;
} * cublasXtHandle_t;

/* ---- Handles --------------------------------------------------------------------------------- */

CUBLAS_API cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle)
{
    struct cublasXtContext *made;

    if (handle == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    made = calloc(1, sizeof(*made));
    if (made == NULL)
        return CUBLAS_STATUS_ALLOC_FAILED;
    made->block_dim = BLOCK_DIM;
    *handle = made;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle)
{
    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (handle->blas != NULL)
        handle_free(handle->blas);
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[])
{
    cublasHandle_t blas;
    cublasStatus_t status;
    int before;

    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (count < 1 || devices == NULL || cudaGetDevice(&before) != cudaSuccess ||
        cudaSetDevice(devices[0]) != cudaSuccess)
        return CUBLAS_STATUS_INVALID_VALUE;
    status = handle_new(&blas);
    cudaSetDevice(before);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (handle->blas != NULL)
        handle_free(handle->blas);
    handle->blas = blas;
    handle->device = devices[0];
    return CUBLAS_STATUS_SUCCESS;
}

/* Each device is a board of its own. */
CUBLAS_API cublasStatus_t cublasXtGetNumBoards(int count, int devices[], int *boards)
{
    if (count < 1 || devices == NULL || boards == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *boards = count;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasXtMaxBoards(int *boards)
{
    if (boards == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *boards = cudaGetDeviceCount(boards) == cudaSuccess ? *boards : 1;
    return CUBLAS_STATUS_SUCCESS;
}

#define SETTING(name, member, valid)                                                               \
    SETTING_OF(cublasXt, cublasXtHandle_t, name, int, member, valid)

SETTING(BlockDim, block_dim, value > 0)
SETTING(PinningMemMode, pinning, value == 0 || value == 1)

/* ---- Products -------------------------------------------------------------------------------- */

/* An operand's matrix on the host, and its copy on the device, without gaps. */
struct transfer {
    struct operand *operand;
    int64_t rows, columns;
    void *host, *copy;
    size_t pitch;
};

static cublasStatus_t transfer_in(struct transfer *transfer)
{
    struct operand *operand = transfer->operand;
    const size_t size = type_size(operand->type), width = (size_t)transfer->rows * size;

    transfer->host = (void *)(uintptr_t)operand->address; // NOLINT
    transfer->pitch = (size_t)operand->ld * size;
    if (transfer->rows == 0 || transfer->columns == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (cudaMalloc(&transfer->copy, width * (size_t)transfer->columns) != cudaSuccess)
        return CUBLAS_STATUS_ALLOC_FAILED;
    if (cudaMemcpy2D(transfer->copy, width, transfer->host, transfer->pitch, width,
                     (size_t)transfer->columns, cudaMemcpyDefault) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    operand->address = (uintptr_t)transfer->copy;
    operand->ld = transfer->rows;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t transfer_out(const struct transfer *transfer)
{
    const size_t width = (size_t)transfer->rows * type_size(transfer->operand->type);

    return cudaMemcpy2D(transfer->host, transfer->pitch, transfer->copy, width, width,
                        (size_t)transfer->columns, cudaMemcpyDefault) == cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_EXECUTION_FAILED;
}

static cublasStatus_t product(cublasHandle_t blas, struct operation *op)
{
    const bool a_stored = op->transa == CUBLAS_OP_N, b_stored = op->transb == CUBLAS_OP_N;
    struct transfer transfers[] = {
        {&op->a, a_stored ? op->m : op->k, a_stored ? op->k : op->m, NULL, NULL, 0},
        {&op->b, b_stored ? op->k : op->n, b_stored ? op->n : op->k, NULL, NULL, 0},
        {&op->c, op->m, op->n, NULL, NULL, 0},
    };
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

    for (unsigned i = 0; i < 3 && status == CUBLAS_STATUS_SUCCESS; i++)
        status = transfer_in(&transfers[i]);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = operation_run(blas, op);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = transfer_out(&transfers[2]);
    for (unsigned i = 0; i < 3; i++)
        cudaFree(transfers[i].copy);
    return status;
}

static cublasStatus_t gemm(cublasXtHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, size_t m, size_t n, size_t k,
                           const void *alpha, const void *a, size_t lda, const void *b, size_t ldb,
                           const void *beta, void *c, size_t ldc, cudaDataType type)
{
    const bool wide = type == CUDA_R_64F || type == CUDA_C_64F;
    struct operation op = operation_of(OPERATOR_GEMM);
    cublasStatus_t status;
    int before;

    if (handle == NULL || handle->blas == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    op.transa = transa, op.transb = transb;
    op.m = (int64_t)m, op.n = (int64_t)n, op.k = (int64_t)k;
    op.a = operand_of(a, (int64_t)lda, type);
    op.b = operand_of(b, (int64_t)ldb, type);
    op.c = operand_of(c, (int64_t)ldc, type);
    op.compute = wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
    operation_scalars(&op, handle->blas, alpha, beta, type);
    status = op.invalid ? CUBLAS_STATUS_INVALID_VALUE : gemm_check(&op);
    if (status != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0)
        return status;
    if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(handle->device) != cudaSuccess)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    status = product(handle->blas, &op);
    cudaSetDevice(before);
    return status;
}

#define GEMM(S, T, type)                                                                           \
    CUBLAS_API cublasStatus_t cublasXt##S##gemm(                                                   \
        cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, size_t m,     \
        size_t n, size_t k, const T *alpha, const T *a, size_t lda, const T *b, size_t ldb,        \
        const T *beta, T *c, size_t ldc)                                                           \
    {                                                                                              \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, type);   \
    }

GEMM(S, float, CUDA_R_32F)
GEMM(D, double, CUDA_R_64F)
GEMM(C, cuComplex, CUDA_C_32F)
GEMM(Z, cuDoubleComplex, CUDA_C_64F)
