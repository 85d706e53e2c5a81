/* matrix.c - a matrix and vectors, and matrices element by element. */
#include "cublas/op/operators.h"

enum { LANES = 32, GROUPS = 8, GEMV_THREADS = LANES * GROUPS, LEVEL3_THREADS = 128 };

/* ---- gemv ------------------------------------------------------------------------------------ */

static enum kernel_name gemv_kernel(const struct operation *op)
{
    if (op->a.type == op->c.type)
        return KERNEL_BY_TYPE_16(op->a.type, gemv);
    return kernel_by_type(op->a.type, KERNEL_NONE, KERNEL_NONE, KERNEL_NONE, KERNEL_NONE,
                          KERNEL_gemv_f16_f32, KERNEL_gemv_bf16_f32);
}

cublasStatus_t gemv_check(const struct operation *op)
{
    if (!trans_valid(op->transa) || op->m < 0 || op->n < 0 || op->batch < 0 ||
        !ld_valid(op->a.ld, op->m) || op->b.ld == 0 || op->c.ld == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

/* Returns the vectors of a batch. With a negative increment each vector begins at its end in
 * memory. */
static struct matrix batch_vector(const struct operand *operand, int64_t n)
{
    return operand->array ? matrix_of(operand, true) : vector_of(operand, n);
}

cublasStatus_t gemv_run(cublasHandle_t handle, const struct operation *op)
{
    bool transposed = op->transa != CUBLAS_OP_N;
    int64_t rows = transposed ? op->n : op->m, columns = transposed ? op->m : op->n;
    struct gemv_params params = {
        .a = matrix_op(&op->a, op->transa),
        .x = batch_vector(&op->b, columns),
        .y = batch_vector(&op->c, rows),
        .alpha = op->alpha,
        .beta = op->beta,
        .m = (int)rows,
        .n = (int)columns,
        .batch = (int)op->batch,
    };
    struct kernel_shape shape = {
        {blocks(rows, params.a.row == 1 ? LANES : GROUPS), 1, layers(op->batch)},
        {GEMV_THREADS, 1, 1},
    };

    if (op->m == 0 || op->n == 0 || op->batch == 0)
        return CUBLAS_STATUS_SUCCESS;
    if ((op->b.array && op->b.ld < 0) || (op->c.array && op->c.ld < 0))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return kernel_launch(gemv_kernel(op), shape, &params, handle->stream);
}

/* ---- ger ------------------------------------------------------------------------------------- */

cublasStatus_t ger_check(const struct operation *op)
{
    if (op->m < 0 || op->n < 0 || op->a.ld == 0 || op->b.ld == 0 || !ld_valid(op->c.ld, op->m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t ger_run(cublasHandle_t handle, const struct operation *op)
{
    struct ger_params params = {
        .a = matrix_of(&op->c, false),
        .x = vector_of(&op->a, op->m),
        .y = vector_of(&op->b, op->n),
        .alpha = op->alpha,
        .m = (int)op->m,
        .n = (int)op->n,
        .fill = op->fill,
        .hermitian = op->hermitian,
    };
    struct kernel_shape shape = {{blocks(op->m, GEMV_THREADS), 1, layers(op->n)},
                                 {GEMV_THREADS, 1, 1}};

    if (op->m == 0 || op->n == 0)
        return CUBLAS_STATUS_SUCCESS;
    params.y.conjugated = op->transb == CUBLAS_OP_C;
    return kernel_launch(KERNEL_BY_TYPE(op->c.type, ger), shape, &params, handle->stream);
}

/* ---- Element by element ---------------------------------------------------------------------- */

static cublasStatus_t elementwise(cublasHandle_t handle, const struct operation *op,
                                  struct elementwise_params *params, enum kernel_name kernel)
{
    struct kernel_shape shape = {{blocks(op->m, LEVEL3_THREADS), 1, layers(op->n)},
                                 {LEVEL3_THREADS, 1, 1}};

    params->c = matrix_of(&op->c, false);
    params->m = (int)op->m;
    params->n = (int)op->n;
    if (op->m == 0 || op->n == 0)
        return CUBLAS_STATUS_SUCCESS;
    return kernel_launch(kernel, shape, params, handle->stream);
}

cublasStatus_t geam_check(const struct operation *op)
{
    if (!trans_valid(op->transa) || !trans_valid(op->transb) || op->m < 0 || op->n < 0 ||
        !ld_valid(op->a.ld, op->transa == CUBLAS_OP_N ? op->m : op->n) ||
        !ld_valid(op->b.ld, op->transb == CUBLAS_OP_N ? op->m : op->n) ||
        !ld_valid(op->c.ld, op->m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t geam_run(cublasHandle_t handle, const struct operation *op)
{
    struct elementwise_params params = {
        .a = matrix_op(&op->a, op->transa),
        .b = matrix_op(&op->b, op->transb),
        .alpha = op->alpha,
        .beta = op->beta,
    };

    return elementwise(handle, op, &params, KERNEL_BY_TYPE(op->c.type, geam));
}

cublasStatus_t dgmm_check(const struct operation *op)
{
    if ((op->side != CUBLAS_SIDE_LEFT && op->side != CUBLAS_SIDE_RIGHT) || op->m < 0 || op->n < 0 ||
        !ld_valid(op->a.ld, op->m) || !ld_valid(op->c.ld, op->m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t dgmm_run(cublasHandle_t handle, const struct operation *op)
{
    bool left = op->side == CUBLAS_SIDE_LEFT;
    struct elementwise_params params = {
        .a = matrix_of(&op->a, false),
        .b = vector_of(&op->b, left ? op->m : op->n),
    };

    params.b.row = left ? op->b.ld : 0;
    params.b.column = left ? 0 : op->b.ld;
    return elementwise(handle, op, &params, KERNEL_BY_TYPE(op->c.type, dgmm));
}
