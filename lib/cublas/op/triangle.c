/* triangle.c - solves systems with a triangular matrix, and multiplies by it, for matrices and
 * vectors. */
#include "cublas/op/operators.h"

enum { TRIANGLE_THREADS = 128 };

cublasStatus_t trsm_check(const struct operation *op)
{
    int64_t order = op->side == CUBLAS_SIDE_LEFT ? op->m : op->n;

    if ((op->side != CUBLAS_SIDE_LEFT && op->side != CUBLAS_SIDE_RIGHT) || !triangle_valid(op) ||
        op->m < 0 || op->n < 0 || op->batch < 0 || !ld_valid(op->a.ld, order) ||
        !ld_valid(op->b.ld, op->m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

/* Returns the kernels' parameters. X op(A) is computed as op(A)' X', so its vectors are the rows of
 * X. */
static struct triangle_params params_of(const struct operation *op)
{
    bool left = op->side == CUBLAS_SIDE_LEFT;
    bool transposed = (op->transa != CUBLAS_OP_N) == left;
    struct triangle_params params = {
        .a = matrix_of(&op->a, transposed),
        .b = matrix_of(&op->b, !left),
        .from = matrix_of(&op->b, !left),
        .alpha = op->alpha,
        .m = (int)(left ? op->m : op->n),
        .vectors = (int)(left ? op->n : op->m),
        .batch = (int)op->batch,
        .fill = transposed ? FILL_LOWER + FILL_UPPER - op->fill : op->fill,
        .unit = op->diag == CUBLAS_DIAG_UNIT,
    };

    params.a.conjugated = op->transa == CUBLAS_OP_C;
    return params;
}

/* Launches a kernel with a block for each vector. */
static cublasStatus_t triangle_launch(cublasHandle_t handle, enum kernel_name kernel,
                                      struct triangle_params *params)
{
    int64_t vectors = (int64_t)params->vectors * params->batch;
    struct kernel_shape shape = {{vectors < SIZE_MOST ? (unsigned)vectors : SIZE_MOST, 1, 1},
                                 {TRIANGLE_THREADS, 1, 1}};

    if (params->m == 0 || vectors == 0)
        return CUBLAS_STATUS_SUCCESS;
    return kernel_launch(kernel, shape, params, handle->stream);
}

cublasStatus_t trsm_run(cublasHandle_t handle, const struct operation *op)
{
    struct triangle_params params = params_of(op);

    return triangle_launch(handle, KERNEL_BY_TYPE(op->a.type, trsm), &params);
}

cublasStatus_t trmm_check(const struct operation *op)
{
    cublasStatus_t status = trsm_check(op);

    if (status == CUBLAS_STATUS_SUCCESS && !ld_valid(op->c.ld, op->m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return status;
}

cublasStatus_t trmm_run(cublasHandle_t handle, const struct operation *op)
{
    struct triangle_params params = params_of(op);

    params.b = matrix_of(&op->c, op->side != CUBLAS_SIDE_LEFT);
    return triangle_launch(handle, KERNEL_BY_TYPE(op->a.type, trmm), &params);
}

/* ---- One vector of m elements ---------------------------------------------------------------- */

static struct operation of_one_vector(const struct operation *op)
{
    struct operation matrix = *op;

    matrix.side = CUBLAS_SIDE_LEFT;
    matrix.n = 1;
    return matrix;
}

cublasStatus_t trsv_check(const struct operation *op)
{
    struct operation matrix = of_one_vector(op);

    if (op->b.ld == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    matrix.b.ld = op->m > 0 ? op->m : 1;
    return trsm_check(&matrix);
}

static struct triangle_params vector_params_of(const struct operation *op)
{
    struct operation matrix = of_one_vector(op);
    struct triangle_params params = params_of(&matrix);

    params.b = params.from = vector_of(&op->b, op->m);
    return params;
}

cublasStatus_t trsv_run(cublasHandle_t handle, const struct operation *op)
{
    struct triangle_params params = vector_params_of(op);

    return triangle_launch(handle, KERNEL_BY_TYPE(op->a.type, trsm), &params);
}

cublasStatus_t trmv_check(const struct operation *op)
{
    return trsv_check(op);
}

cublasStatus_t trmv_run(cublasHandle_t handle, const struct operation *op)
{
    struct triangle_params params = vector_params_of(op);

    return triangle_launch(handle, KERNEL_BY_TYPE(op->a.type, trmm), &params);
}
