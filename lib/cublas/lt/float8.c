/* float8.c - see float8.h. */
#include "cublas/lt/float8.h"

#include "cublas/base/runtime.h"
#include "cublas/op/operators.h"

enum { FLOAT8_TILE = 32, FLOAT8_THREADS = 256 };
enum scale { SCALE_A, SCALE_B, SCALE_C, SCALE_D, AMAX_D };

static bool type_float8(cudaDataType type)
{
    return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

static bool type_wide(cudaDataType type)
{
    return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F;
}

bool lt_float8_is(const struct lt_matmul *matmul)
{
    return type_float8(matmul->a->type) || type_float8(matmul->b->type);
}

cublasStatus_t lt_float8_check(const struct lt_matmul *matmul)
{
    const struct lt_desc *desc = matmul->desc;
    cudaDataType c = matmul->c->type, d = matmul->d->type;

    if (!type_float8(matmul->a->type) || !type_float8(matmul->b->type) || !type_wide(c) ||
        (d != c && !type_float8(d)) || desc->compute != CUBLAS_COMPUTE_32F ||
        desc->scale != CUDA_R_32F || matmul->d->batch_mode != CUBLASLT_BATCH_MODE_STRIDED ||
        (type_float8(d) && desc->epilogue != EPILOGUE_NONE) ||
        (desc->epilogue & (EPILOGUE_BGRADA | EPILOGUE_BGRADB)) != 0)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return CUBLAS_STATUS_SUCCESS;
}

static struct matrix matrix_of_layout(const struct lt_layout *layout, cublasOperation_t trans,
                                      const void *address)
{
    struct operand operand = operand_of(address, layout->ld, layout->type);

    operand.stride = layout->stride;
    return matrix_of(&operand, (layout->order == CUBLASLT_ORDER_ROW) != (trans != CUBLAS_OP_N));
}

cublasStatus_t lt_float8_run(const struct lt_matmul *matmul, const struct lt_operands *operands,
                             cudaStream_t stream)
{
    const struct lt_desc *desc = matmul->desc;
    const struct lt_layout *a = matmul->a, *d = matmul->d;
    struct cublasContext handle = {.pointer_mode = (cublasPointerMode_t)desc->pointer_mode};
    struct operation op = operation_of(OPERATOR_GEMM);
    struct float8_params params = {
        .a = matrix_of_layout(a, desc->transa, operands->a),
        .b = matrix_of_layout(matmul->b, desc->transb, operands->b),
        .c = matrix_of_layout(matmul->c, CUBLAS_OP_N, operands->c),
        .d = matrix_of_layout(d, CUBLAS_OP_N, operands->d),
        .a_scale = (uintptr_t)desc->scales[SCALE_A],
        .b_scale = (uintptr_t)desc->scales[SCALE_B],
        .c_scale = (uintptr_t)desc->scales[SCALE_C],
        .d_scale = (uintptr_t)desc->scales[SCALE_D],
        .amax = (uintptr_t)desc->scales[AMAX_D],
        .m = (int)d->rows,
        .n = (int)d->columns,
        .k = (int)(desc->transa == CUBLAS_OP_N ? a->columns : a->rows),
        .batch = d->batch,
        .a_type = type_scalar(a->type),
        .b_type = type_scalar(matmul->b->type),
        .c_type = type_scalar(matmul->c->type),
        .d_type = type_scalar(d->type),
    };
    int64_t tiles = (int64_t)blocks(params.m, FLOAT8_TILE) * blocks(params.n, FLOAT8_TILE);
    struct kernel_shape shape = {{(unsigned)tiles, 1, layers(params.batch)},
                                 {FLOAT8_THREADS, 1, 1}};

    operation_scalars(&op, &handle, operands->alpha, operands->beta, CUDA_R_32F);
    params.alpha = op.alpha, params.beta = op.beta;
    if (tiles > SIZE_MOST)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (params.amax != 0 &&
        cudaMemsetAsync(desc->scales[AMAX_D], 0, sizeof(float), stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return kernel_launch(KERNEL_float8, shape, &params, stream);
}
