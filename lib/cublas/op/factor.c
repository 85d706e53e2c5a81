/*
 * factor.c - factorizes batches of matrices, and uses the factors. Operands are arrays of
 * addresses. Functions with an info on the host, op->result, store there the negative position of a
 * wrong parameter.
 */
#include "cublas/op/operators.h"

enum { FACTOR_THREADS = 128, MATINV_ORDER_MOST = 32 };

static cublasStatus_t wrong(const struct operation *op, int position)
{
    if (op->result != NULL)
        *(int *)op->result = -position;
    return position == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/* Runs a kernel with a block for each of `units`. */
static cublasStatus_t factor_run(cublasHandle_t handle, const struct operation *op, int64_t units,
                                 enum kernel_name kernel)
{
    struct factor_params params = {
        .a = matrix_of(&op->a, false),
        .b = matrix_of(&op->b, false),
        .tau = matrix_of(&op->c, false),
        .pivots = op->pivots,
        .info = op->info,
        .m = (int)op->m,
        .n = (int)op->n,
        .vectors = (int)op->k,
        .batch = (int)op->batch,
        .transposed = op->transa != CUBLAS_OP_N,
        .conjugated = op->transa == CUBLAS_OP_C,
    };
    struct kernel_shape shape = {{units < SIZE_MOST ? (unsigned)units : SIZE_MOST, 1, 1},
                                 {FACTOR_THREADS, 1, 1}};

    if (units == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (op->a.address == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return kernel_launch(kernel, shape, &params, handle->stream);
}

#define RUN(name, units) factor_run(handle, op, units, KERNEL_BY_TYPE(op->a.type, name))

/* ---- LU -------------------------------------------------------------------------------------- */

cublasStatus_t getrf_check(const struct operation *op)
{
    return op->n < 0 || op->batch < 0 || !ld_valid(op->a.ld, op->n) ? CUBLAS_STATUS_INVALID_VALUE
                                                                    : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t getrf_run(cublasHandle_t handle, const struct operation *op)
{
    return RUN(getrf, op->n == 0 ? 0 : op->batch);
}

cublasStatus_t getrs_check(const struct operation *op)
{
    return wrong(op, !trans_valid(op->transa)     ? 1
                     : op->n < 0                  ? 2
                     : op->k < 0                  ? 3
                     : !ld_valid(op->a.ld, op->n) ? 5
                     : !ld_valid(op->b.ld, op->n) ? 8
                     : op->batch < 0              ? 10
                                                  : 0);
}

cublasStatus_t getrs_run(cublasHandle_t handle, const struct operation *op)
{
    return RUN(getrs, op->n == 0 ? 0 : op->k * op->batch);
}

cublasStatus_t getri_check(const struct operation *op)
{
    return op->n < 0 || op->batch < 0 || !ld_valid(op->a.ld, op->n) || !ld_valid(op->b.ld, op->n)
               ? CUBLAS_STATUS_INVALID_VALUE
               : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t getri_run(cublasHandle_t handle, const struct operation *op)
{
    return RUN(getri, op->n * op->batch);
}

cublasStatus_t matinv_check(const struct operation *op)
{
    return op->n > MATINV_ORDER_MOST ? CUBLAS_STATUS_INVALID_VALUE : getri_check(op);
}

cublasStatus_t matinv_run(cublasHandle_t handle, const struct operation *op)
{
    return RUN(matinv, op->n == 0 ? 0 : op->batch);
}

/* ---- QR -------------------------------------------------------------------------------------- */

cublasStatus_t geqrf_check(const struct operation *op)
{
    return wrong(op, op->m < 0                    ? 1
                     : op->n < 0                  ? 2
                     : !ld_valid(op->a.ld, op->m) ? 4
                     : op->batch < 0              ? 7
                                                  : 0);
}

cublasStatus_t geqrf_run(cublasHandle_t handle, const struct operation *op)
{
    return RUN(qr, op->m == 0 || op->n == 0 ? 0 : op->batch);
}

cublasStatus_t gels_check(const struct operation *op)
{
    cublasStatus_t status = wrong(op, op->m < 0                    ? 2
                                      : op->n < 0                  ? 3
                                      : op->k < 0                  ? 4
                                      : !ld_valid(op->a.ld, op->m) ? 6
                                      : !ld_valid(op->b.ld, op->m) ? 8
                                      : op->batch < 0              ? 11
                                                                   : 0);

    if (status == CUBLAS_STATUS_SUCCESS && (op->transa != CUBLAS_OP_N || op->m < op->n))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return status;
}

cublasStatus_t gels_run(cublasHandle_t handle, const struct operation *op)
{
    return RUN(qr, op->n == 0 ? 0 : op->batch);
}
