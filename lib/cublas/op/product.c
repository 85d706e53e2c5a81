/* product.c - products of complex matrices, and with symmetric and Hermitian ones. */
#include "cublas/op/operators.h"

enum { PRODUCT_TILE = 32, PRODUCT_THREADS = 256 };

cublasStatus_t product_launch(cublasHandle_t handle, const struct operation *op, unsigned a_fill,
                              unsigned b_fill)
{
    struct product_params params = {
        .a = matrix_op(&op->a, op->transa),
        .b = matrix_op(&op->b, op->transb),
        .c = matrix_of(&op->c, false),
        .alpha = op->alpha,
        .beta = op->beta,
        .m = (int)op->m,
        .n = (int)op->n,
        .k = (int)op->k,
        .batch = (int)op->batch,
        .fill = op->fill,
        .a_fill = a_fill,
        .b_fill = b_fill,
        .hermitian = op->hermitian,
    };
    int64_t tiles = (int64_t)blocks(op->m, PRODUCT_TILE) * blocks(op->n, PRODUCT_TILE);
    struct kernel_shape shape = {{(unsigned)tiles, 1, layers(op->batch)}, {PRODUCT_THREADS, 1, 1}};

    if (tiles == 0 || op->batch == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (tiles > SIZE_MOST)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return kernel_launch(KERNEL_BY_TYPE(op->a.type, product), shape, &params, handle->stream);
}

/* ---- symm: op->fill is the triangle of A ----------------------------------------------------- */

cublasStatus_t symm_check(const struct operation *op)
{
    int64_t order = op->side == CUBLAS_SIDE_LEFT ? op->m : op->n;

    if ((op->side != CUBLAS_SIDE_LEFT && op->side != CUBLAS_SIDE_RIGHT) || op->m < 0 || op->n < 0 ||
        !ld_valid(op->a.ld, order) || !ld_valid(op->b.ld, op->m) || !ld_valid(op->c.ld, op->m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t symm_run(cublasHandle_t handle, const struct operation *op)
{
    bool left = op->side == CUBLAS_SIDE_LEFT;
    struct operation product = *op;

    product.fill = FILL_ALL;
    product.a = left ? op->a : op->b;
    product.b = left ? op->b : op->a;
    product.k = left ? op->m : op->n;
    return product_launch(handle, &product, left ? op->fill : FILL_ALL, left ? FILL_ALL : op->fill);
}

cublasStatus_t symv_check(const struct operation *op)
{
    if (op->m < 0 || !ld_valid(op->a.ld, op->m) || op->b.ld == 0 || op->c.ld == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

/* Computes symv as a product of rows: c' = alpha b' A' + beta c'. A' is A, or the conjugate of a
 * Hermitian A. */
cublasStatus_t symv_run(cublasHandle_t handle, const struct operation *op)
{
    struct operation product = *op;

    product.fill = FILL_ALL;
    product.a = op->b;
    product.b = op->a;
    product.transb = op->hermitian ? CUBLAS_OP_T : CUBLAS_OP_N;
    product.a.address = vector_of(&op->b, op->m).address;
    product.c.address = vector_of(&op->c, op->m).address;
    product.n = product.k = op->m;
    product.m = op->m > 0;
    return product_launch(handle, &product, FILL_ALL,
                          op->hermitian ? FILL_LOWER + FILL_UPPER - op->fill : op->fill);
}
