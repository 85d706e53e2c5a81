/* matmul.c - see matmul.h. */
#include "cublas/lt/matmul.h"

#include <string.h>

#include "cublas/base/runtime.h"
#include "cublas/lt/float8.h"
#include "cublas/op/operators.h"

/* ---- Which products there are ---------------------------------------------------------------- */

static bool epilogue_valid(uint32_t epilogue)
{
    switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB:
        return true;
    default:
        return false;
    }
}

static bool epilogue_has_mask(uint32_t epilogue)
{
    return (epilogue & EPILOGUE_AUX) != 0 && (epilogue & (EPILOGUE_RELU | EPILOGUE_DRELU)) != 0;
}

static cudaDataType type_or(int32_t type, cudaDataType otherwise)
{
    return type < 0 ? otherwise : (cudaDataType)type;
}

static bool type_real(cudaDataType type)
{
    return type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

static cublasStatus_t epilogue_check(const struct lt_matmul *matmul)
{
    const struct lt_desc *desc = matmul->desc;
    const struct lt_layout *d = matmul->d;
    bool mask = epilogue_has_mask(desc->epilogue);

    if (!epilogue_valid(desc->epilogue))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (desc->epilogue == EPILOGUE_NONE)
        return CUBLAS_STATUS_SUCCESS;
    if (d->batch_mode != CUBLASLT_BATCH_MODE_STRIDED || !type_real(d->type) ||
        !type_real(type_or(desc->bias_type, d->type)) ||
        !type_real(type_or(desc->aux_type, d->type)))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if ((desc->epilogue & (EPILOGUE_BGRADA | EPILOGUE_BGRADB)) != 0 && !type_real(matmul->a->type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if ((desc->epilogue & EPILOGUE_AUX) == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (d->order != CUBLASLT_ORDER_COL)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (desc->aux_ld < (int64_t)d->rows || desc->aux_ld % (mask ? 128 : 8) != 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

static bool layout_valid(const struct lt_layout *layout)
{
    uint64_t least = layout->order == CUBLASLT_ORDER_ROW ? layout->columns : layout->rows;

    return layout->rows <= SIZE_MOST && layout->columns <= SIZE_MOST && layout->batch >= 1 &&
           layout->ld >= 1 && (uint64_t)layout->ld >= least;
}

static bool layout_supported(const struct lt_layout *layout)
{
    return (layout->order == CUBLASLT_ORDER_COL || layout->order == CUBLASLT_ORDER_ROW) &&
           layout->plane == 0 && layout->batch_mode <= CUBLASLT_BATCH_MODE_POINTER_ARRAY;
}

/* Returns the number of op(A)'s rows, or with `columns` of its columns. */
static uint64_t size_of(const struct lt_layout *layout, cublasOperation_t trans, bool columns)
{
    return (trans == CUBLAS_OP_N) == columns ? layout->columns : layout->rows;
}

static cublasOperation_t trans_flip(cublasOperation_t trans)
{
    return trans == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/* Returns op() for the matrix in column order: a matrix stored by rows is the transpose of one
 * stored by columns. */
static cublasOperation_t trans_of(const struct lt_layout *layout, cublasOperation_t trans)
{
    return layout->order == CUBLASLT_ORDER_COL ? trans : trans_flip(trans);
}

static struct operand operand_of_layout(const struct lt_layout *layout, const void *address)
{
    struct operand operand = operand_of(address, layout->ld, layout->type);

    operand.stride = layout->stride;
    operand.array = layout->batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY;
    return operand;
}

/* Returns the record of the product, with D as C. If D is stored by rows, the record computes D' =
 * op(B)' op(A)'. */
static struct operation operation_of_matmul(const struct lt_matmul *matmul,
                                            const struct lt_operands *operands,
                                            cublasHandle_t handle)
{
    const struct lt_desc *desc = matmul->desc;
    struct operation op = operation_of(OPERATOR_GEMM);
    struct operand a = operand_of_layout(matmul->a, operands->a);
    struct operand b = operand_of_layout(matmul->b, operands->b);
    cublasOperation_t transa = trans_of(matmul->a, desc->transa);
    cublasOperation_t transb = trans_of(matmul->b, desc->transb);
    bool by_rows = matmul->d->order == CUBLASLT_ORDER_ROW;

    op.a = by_rows ? b : a, op.b = by_rows ? a : b;
    op.transa = by_rows ? trans_flip(transb) : transa;
    op.transb = by_rows ? trans_flip(transa) : transb;
    op.c = operand_of_layout(matmul->d, operands->d);
    op.m = (int64_t)(by_rows ? matmul->d->columns : matmul->d->rows);
    op.n = (int64_t)(by_rows ? matmul->d->rows : matmul->d->columns);
    op.k = (int64_t)size_of(matmul->a, desc->transa, true);
    op.batch = matmul->d->batch;
    op.compute = desc->compute;
    operation_scalars(&op, handle, operands->alpha, operands->beta, desc->scale);
    return op;
}

cublasStatus_t lt_matmul_check(const struct lt_matmul *matmul)
{
    static const double zero[2]; /* a zero of every type of scalar */
    static const struct lt_operands none = {.alpha = zero, .beta = zero};
    const struct lt_layout *const layouts[] = {matmul->a, matmul->b, matmul->c, matmul->d};
    const struct lt_desc *desc = matmul->desc;
    struct operation op;
    cublasStatus_t status;

    for (unsigned i = 0; i < 4; i++) {
        if (!layout_supported(layouts[i]))
            return CUBLAS_STATUS_NOT_SUPPORTED;
        if (!layout_valid(layouts[i]) || layouts[i]->batch != matmul->d->batch)
            return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!trans_valid(desc->transa) || !trans_valid(desc->transb) ||
        size_of(matmul->a, desc->transa, false) != matmul->d->rows ||
        size_of(matmul->b, desc->transb, true) != matmul->d->columns ||
        size_of(matmul->a, desc->transa, true) != size_of(matmul->b, desc->transb, false) ||
        matmul->c->rows != matmul->d->rows || matmul->c->columns != matmul->d->columns)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (desc->pointer_mode != CUBLASLT_POINTER_MODE_HOST &&
        desc->pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (desc->transc != CUBLAS_OP_N || desc->fill != CUBLAS_FILL_MODE_FULL ||
        matmul->c->order != matmul->d->order || matmul->a->batch_mode != matmul->d->batch_mode ||
        matmul->b->batch_mode != matmul->d->batch_mode ||
        matmul->c->batch_mode != matmul->d->batch_mode)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (lt_float8_is(matmul)) {
        status = lt_float8_check(matmul);
        return status == CUBLAS_STATUS_SUCCESS ? epilogue_check(matmul) : status;
    }
    for (unsigned i = 0; i < sizeof(desc->scales) / sizeof(desc->scales[0]); i++)
        if (desc->scales[i] != NULL)
            return CUBLAS_STATUS_NOT_SUPPORTED;
    /* A matrix stored by rows is used as its transpose, which cannot be conjugated. */
    if (matmul->c->type != matmul->d->type ||
        (type_complex(matmul->a->type) &&
         (desc->transa == CUBLAS_OP_C || desc->transb == CUBLAS_OP_C) &&
         (matmul->a->order != CUBLASLT_ORDER_COL || matmul->b->order != CUBLASLT_ORDER_COL ||
          matmul->d->order != CUBLASLT_ORDER_COL)))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    status = epilogue_check(matmul);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    op = operation_of_matmul(matmul, &none, NULL);
    return gemm_check(&op);
}

/* ---- Running one ----------------------------------------------------------------------------- */

/* Returns the matrix with the program's rows and columns, in either order of storage. */
static struct matrix matrix_of_layout(const struct lt_layout *layout, const void *address)
{
    struct operand operand = operand_of_layout(layout, address);

    return matrix_of(&operand, layout->order == CUBLASLT_ORDER_ROW);
}

static bool scalar_is_zero(const struct scalar *scalar, cudaDataType type)
{
    const size_t part = type_size(type) / (type_complex(type) ? 2 : 1);
    uint64_t signs = type == CUDA_R_32I ? 0 : UINT64_C(1) << (part * 8 - 1);

    if (type == CUDA_C_32F)
        signs |= signs << 32;
    return scalar->address == 0 && (scalar->bits[0] & ~signs) == 0 &&
           (scalar->bits[1] & ~signs) == 0;
}

/* Copies C to D, if beta is not 0 and C is not D. */
static cublasStatus_t addend_copy(const struct lt_matmul *matmul,
                                  const struct lt_operands *operands, const struct scalar *beta,
                                  cudaStream_t stream)
{
    const struct lt_layout *c = matmul->c, *d = matmul->d;
    size_t size = type_size(c->type);
    bool by_rows = c->order == CUBLASLT_ORDER_ROW;
    size_t width = (by_rows ? c->columns : c->rows) * size;
    size_t height = by_rows ? c->rows : c->columns;

    if (operands->c == operands->d || scalar_is_zero(beta, matmul->desc->scale) || width == 0 ||
        height == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (operands->c == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (d->batch_mode != CUBLASLT_BATCH_MODE_STRIDED)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (int32_t i = 0; i < d->batch; i++)
        if (cudaMemcpy2DAsync(
                (char *)operands->d + i * d->stride * (int64_t)size, (size_t)d->ld * size,
                (const char *)operands->c + i * c->stride * (int64_t)size, (size_t)c->ld * size,
                width, height, cudaMemcpyDeviceToDevice, stream) != cudaSuccess)
            return CUBLAS_STATUS_EXECUTION_FAILED;
    return CUBLAS_STATUS_SUCCESS;
}

enum { EPILOGUE_THREADS = 256, SUM_ROWS = 32 };

/* Computes bias[i] = the sum of row i. */
static cublasStatus_t rows_sum(struct matrix matrix, cudaDataType type, int64_t rows,
                               int64_t columns, const struct lt_matmul *matmul, cudaStream_t stream)
{
    const struct lt_desc *desc = matmul->desc;
    struct epilogue_params params = {
        .d = matrix,
        .bias = (uintptr_t)desc->bias,
        .bias_stride = desc->bias_stride,
        .bias_type = type_scalar(type_or(desc->bias_type, matmul->d->type)),
        .m = (int)rows,
        .n = (int)columns,
        .batch = matmul->d->batch,
    };
    struct kernel_shape shape = {{blocks(rows, SUM_ROWS), 1, layers(params.batch)},
                                 {EPILOGUE_THREADS, 1, 1}};

    return kernel_launch(kernel_by_type(type, KERNEL_row_sums_f32, KERNEL_NONE, KERNEL_NONE,
                                        KERNEL_NONE, KERNEL_row_sums_f16, KERNEL_row_sums_bf16),
                         shape, &params, stream);
}

static cublasStatus_t elements_change(const struct lt_matmul *matmul, void *to, cudaStream_t stream)
{
    const struct lt_desc *desc = matmul->desc;
    const struct lt_layout *d = matmul->d;
    struct epilogue_params params = {
        .d = matrix_of_layout(d, to),
        .aux = {(uintptr_t)desc->aux, 1, desc->aux_ld, desc->aux_stride, 0, 0},
        .bias = (uintptr_t)desc->bias,
        .bias_stride = desc->bias_stride,
        .bias_type = type_scalar(type_or(desc->bias_type, d->type)),
        .aux_type = type_scalar(type_or(desc->aux_type, d->type)),
        .does = desc->epilogue & (EPILOGUE_RELU | EPILOGUE_BIAS | EPILOGUE_DRELU | EPILOGUE_GELU |
                                  EPILOGUE_DGELU | EPILOGUE_AUX),
        .m = (int)d->rows,
        .n = (int)d->columns,
        .batch = d->batch,
    };
    struct kernel_shape shape = {
        {blocks(params.m, EPILOGUE_THREADS), layers(params.n), layers(params.batch)},
        {EPILOGUE_THREADS, 1, 1}};

    if (params.does == 0)
        return CUBLAS_STATUS_SUCCESS;
    return kernel_launch(kernel_by_type(d->type, KERNEL_epilogue_f32, KERNEL_NONE, KERNEL_NONE,
                                        KERNEL_NONE, KERNEL_epilogue_f16, KERNEL_epilogue_bf16),
                         shape, &params, stream);
}

static cublasStatus_t gradients_sum(const struct lt_matmul *matmul,
                                    const struct lt_operands *operands, cudaStream_t stream)
{
    const struct lt_desc *desc = matmul->desc;
    const struct lt_layout *d = matmul->d;
    int64_t k = (int64_t)size_of(matmul->a, desc->transa, true);
    struct operand operand;

    if ((desc->epilogue & EPILOGUE_BGRAD) != 0)
        return rows_sum(matrix_of_layout(d, operands->d), d->type, (int64_t)d->rows,
                        (int64_t)d->columns, matmul, stream);
    if ((desc->epilogue & EPILOGUE_BGRADA) != 0) {
        operand = operand_of_layout(matmul->a, operands->a);
        return rows_sum(matrix_of(&operand, trans_of(matmul->a, desc->transa) != CUBLAS_OP_N),
                        matmul->a->type, (int64_t)d->rows, k, matmul, stream);
    }
    operand = operand_of_layout(matmul->b, operands->b);
    return rows_sum(matrix_of(&operand, trans_of(matmul->b, desc->transb) == CUBLAS_OP_N),
                    matmul->b->type, (int64_t)d->columns, k, matmul, stream);
}

cublasStatus_t lt_matmul_run(const struct lt_matmul *matmul, const struct lt_operands *operands,
                             cudaStream_t stream)
{
    const struct lt_desc *desc = matmul->desc;
    struct cublasContext handle = {.stream = stream,
                                   .pointer_mode = (cublasPointerMode_t)desc->pointer_mode};
    const uint32_t uses_bias = EPILOGUE_BIAS | EPILOGUE_BGRAD | EPILOGUE_BGRADA | EPILOGUE_BGRADB;
    cublasStatus_t status = lt_matmul_check(matmul);
    struct operation op;

    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (operands->d == NULL || operands->alpha == NULL || operands->beta == NULL ||
        ((desc->epilogue & uses_bias) != 0 && desc->bias == NULL) ||
        ((desc->epilogue & EPILOGUE_AUX) != 0 && desc->aux == NULL))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (matmul->d->rows == 0 || matmul->d->columns == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (lt_float8_is(matmul)) {
        status = lt_float8_run(matmul, operands, stream);
    } else {
        op = operation_of_matmul(matmul, operands, &handle);
        status = addend_copy(matmul, operands, &op.beta, stream);
        if (status == CUBLAS_STATUS_SUCCESS)
            status = operation_run(&handle, &op);
    }
    if (status == CUBLAS_STATUS_SUCCESS)
        status = elements_change(matmul, operands->d, stream);
    if (status == CUBLAS_STATUS_SUCCESS &&
        (desc->epilogue & (EPILOGUE_BGRAD | EPILOGUE_BGRADA | EPILOGUE_BGRADB)) != 0)
        status = gradients_sum(matmul, operands, stream);
    return status;
}
