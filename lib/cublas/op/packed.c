/*
 * packed.c - level 2 operations with an A of which a band of diagonals is stored, or a triangle
 * without gaps (packed), and copies of packed triangles. matrix.c and triangle.c have the same
 * operators for matrices that are stored whole. A packed triangle is a band with all diagonals of
 * its side, so both take one struct packed_matrix and one set of kernels.
 */
#include "cublas/op/operators.h"

enum { LANES = 32, GROUPS = 8, PACKED_THREADS = LANES * GROUPS, TRIANGLE_THREADS = 128 };

/* Returns whether the numbers of diagonals are not negative, and the leading dimension has room for
 * all diagonals. A packed matrix has neither. */
static bool band_valid(const struct operation *op)
{
    return op->packed || (op->k >= 0 && op->above >= 0 && op->a.ld >= 1 &&
                          op->above <= op->a.ld - 1 && op->k <= op->a.ld - 1 - op->above);
}

/* Returns op() of the record's band, of order m. */
static struct packed_matrix packed_of(const struct operation *op, const struct operand *operand)
{
    const bool transposed = op->transa != CUBLAS_OP_N;

    return (struct packed_matrix){
        .address = operand->address,
        .ld = operand->ld,
        .above = op->above,
        .before = transposed ? op->above : op->k,
        .behind = transposed ? op->k : op->above,
        .order = (int)op->m,
        .packed = op->packed,
        .fill = op->fill,
        .transposed = transposed,
        .conjugated = op->transa == CUBLAS_OP_C,
    };
}

/* Returns op() of the record's triangle, whose k diagonals are all on one side of the main one. */
static struct packed_matrix triangle_of(const struct operation *op, const struct operand *operand)
{
    struct operation one = *op;

    if (op->packed)
        one.k = op->m;
    if (op->fill == FILL_UPPER) {
        one.above = one.k;
        one.k = 0;
    }
    return packed_of(&one, operand);
}

/* ---- Products with a vector ------------------------------------------------------------------ */

/* Computes y = alpha A x + beta y, for an A of `rows` rows and `columns` columns. */
static cublasStatus_t multiply(cublasHandle_t handle, const struct operation *op,
                               struct packed_matrix a, int64_t rows, int64_t columns)
{
    struct packed_params params = {
        .a = a,
        .x = vector_of(&op->b, columns),
        .y = vector_of(&op->c, rows),
        .alpha = op->alpha,
        .beta = op->beta,
        .m = (int)rows,
        .n = (int)columns,
    };
    struct kernel_shape shape = {{blocks(rows, GROUPS), 1, 1}, {PACKED_THREADS, 1, 1}};

    if (rows == 0 || columns == 0)
        return CUBLAS_STATUS_SUCCESS;
    return kernel_launch(KERNEL_BY_TYPE(op->a.type, gbmv), shape, &params, handle->stream);
}

cublasStatus_t gbmv_check(const struct operation *op)
{
    if (!trans_valid(op->transa) || op->m < 0 || op->n < 0 || !band_valid(op) || op->b.ld == 0 ||
        op->c.ld == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t gbmv_run(cublasHandle_t handle, const struct operation *op)
{
    const bool transposed = op->transa != CUBLAS_OP_N;

    return multiply(handle, op, packed_of(op, &op->a), transposed ? op->n : op->m,
                    transposed ? op->m : op->n);
}

cublasStatus_t sbmv_check(const struct operation *op)
{
    if (!fill_valid(op) || op->m < 0 || !band_valid(op) || op->b.ld == 0 || op->c.ld == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t sbmv_run(cublasHandle_t handle, const struct operation *op)
{
    struct packed_matrix a = triangle_of(op, &op->a);

    a.before = a.behind = a.before + a.behind;
    a.mirrored = true;
    a.hermitian = op->hermitian;
    return multiply(handle, op, a, op->m, op->m);
}

/* ---- Rank 1 ---------------------------------------------------------------------------------- */

cublasStatus_t spr_check(const struct operation *op)
{
    if (!fill_valid(op) || op->m < 0 || op->a.ld == 0 || op->b.ld == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t spr_run(cublasHandle_t handle, const struct operation *op)
{
    struct packed_params params = {
        .a = triangle_of(op, &op->c),
        .x = vector_of(&op->a, op->m),
        .y = vector_of(&op->b, op->m),
        .alpha = op->alpha,
        .m = (int)op->m,
        .n = (int)op->m,
        .fill = op->fill,
        .hermitian = op->hermitian,
    };
    struct kernel_shape shape = {{blocks(op->m, PACKED_THREADS), 1, layers(op->m)},
                                 {PACKED_THREADS, 1, 1}};

    if (op->m == 0)
        return CUBLAS_STATUS_SUCCESS;
    params.y.conjugated = op->transb == CUBLAS_OP_C;
    return kernel_launch(KERNEL_BY_TYPE(op->c.type, spr), shape, &params, handle->stream);
}

/* ---- Triangles ------------------------------------------------------------------------------- */

cublasStatus_t tbmv_check(const struct operation *op)
{
    if (!triangle_valid(op) || op->m < 0 || !band_valid(op) || op->b.ld == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t triangle(cublasHandle_t handle, const struct operation *op,
                               enum kernel_name kernel)
{
    const bool transposed = op->transa != CUBLAS_OP_N;
    struct packed_triangle_params params = {
        .a = triangle_of(op, &op->a),
        .b = vector_of(&op->b, op->m),
        .from = vector_of(&op->b, op->m),
        .alpha = op->alpha,
        .m = (int)op->m,
        .vectors = 1,
        .batch = 1,
        .fill = transposed ? FILL_LOWER + FILL_UPPER - op->fill : op->fill,
        .unit = op->diag == CUBLAS_DIAG_UNIT,
    };
    struct kernel_shape shape = {{1, 1, 1}, {TRIANGLE_THREADS, 1, 1}};

    if (op->m == 0)
        return CUBLAS_STATUS_SUCCESS;
    return kernel_launch(kernel, shape, &params, handle->stream);
}

cublasStatus_t tbmv_run(cublasHandle_t handle, const struct operation *op)
{
    return triangle(handle, op, KERNEL_BY_TYPE(op->a.type, tbmv));
}

cublasStatus_t tbsv_run(cublasHandle_t handle, const struct operation *op)
{
    return triangle(handle, op, KERNEL_BY_TYPE(op->a.type, tbsv));
}

/* ---- Copies ---------------------------------------------------------------------------------- */

cublasStatus_t repack_check(const struct operation *op)
{
    if (!fill_valid(op) || op->m < 0 || !ld_valid(op->c.ld, op->m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t repack(cublasHandle_t handle, const struct operation *op, bool unpack)
{
    struct repack_params params = {
        .a = triangle_of(op, &op->a),
        .c = matrix_of(&op->c, false),
        .n = (int)op->m,
        .unpack = unpack,
    };
    struct kernel_shape shape = {{blocks(op->m, PACKED_THREADS), 1, layers(op->m)},
                                 {PACKED_THREADS, 1, 1}};

    if (op->m == 0)
        return CUBLAS_STATUS_SUCCESS;
    return kernel_launch(KERNEL_BY_TYPE(op->a.type, repack), shape, &params, handle->stream);
}

cublasStatus_t tpttr_run(cublasHandle_t handle, const struct operation *op)
{
    return repack(handle, op, true);
}

cublasStatus_t trttp_run(cublasHandle_t handle, const struct operation *op)
{
    return repack(handle, op, false);
}
