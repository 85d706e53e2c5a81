/* operand.c - converts operands and their types to the kernels' form: see operators.h. */
#include "cublas/op/operators.h"

size_t type_size(cudaDataType type)
{
    switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
        return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
        return 8;
    case CUDA_C_64F:
        return 16;
    default:
        return 0;
    }
}

unsigned type_scalar(cudaDataType type)
{
    switch (type) {
    case CUDA_R_16F:
        return SCALAR_F16;
    case CUDA_R_16BF:
        return SCALAR_BF16;
    case CUDA_R_64F:
        return SCALAR_F64;
    case CUDA_R_32I:
        return SCALAR_S32;
    case CUDA_R_8F_E4M3:
        return SCALAR_E4M3;
    case CUDA_R_8F_E5M2:
        return SCALAR_E5M2;
    case CUDA_C_32F:
        return SCALAR_C32;
    case CUDA_C_64F:
        return SCALAR_C64;
    default:
        return SCALAR_F32;
    }
}

bool trans_valid(cublasOperation_t trans)
{
    return trans == CUBLAS_OP_N || trans == CUBLAS_OP_T || trans == CUBLAS_OP_C;
}

bool fill_valid(const struct operation *op)
{
    return op->fill == FILL_LOWER || op->fill == FILL_UPPER;
}

bool triangle_valid(const struct operation *op)
{
    return fill_valid(op) && trans_valid(op->transa) &&
           (op->diag == CUBLAS_DIAG_NON_UNIT || op->diag == CUBLAS_DIAG_UNIT);
}

bool ld_valid(int64_t ld, int64_t rows)
{
    return ld >= 1 && ld >= rows;
}

struct matrix matrix_of(const struct operand *operand, bool transposed)
{
    struct matrix matrix = {.address = operand->address,
                            .row = 1,
                            .column = operand->ld,
                            .stride = operand->stride,
                            .array = operand->array};

    if (transposed) {
        matrix.row = operand->ld;
        matrix.column = 1;
    }
    return matrix;
}

struct matrix vector_of(const struct operand *operand, int64_t n)
{
    struct matrix matrix = matrix_of(operand, true);

    if (operand->ld < 0 && n > 0)
        matrix.address += (uint64_t)((1 - n) * operand->ld * (int64_t)type_size(operand->type));
    return matrix;
}

struct matrix matrix_op(const struct operand *operand, cublasOperation_t trans)
{
    struct matrix matrix = matrix_of(operand, trans != CUBLAS_OP_N);

    matrix.conjugated = trans == CUBLAS_OP_C;
    return matrix;
}

cudaDataType type_part(cudaDataType type)
{
    return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}

bool type_complex(cudaDataType type)
{
    return type == CUDA_C_32F || type == CUDA_C_64F;
}

enum kernel_name kernel_by_type(cudaDataType type, enum kernel_name f32, enum kernel_name f64,
                                enum kernel_name c32, enum kernel_name c64, enum kernel_name f16,
                                enum kernel_name bf16)
{
    switch (type) {
    case CUDA_R_32F:
        return f32;
    case CUDA_R_64F:
        return f64;
    case CUDA_C_32F:
        return c32;
    case CUDA_C_64F:
        return c64;
    case CUDA_R_16F:
        return f16;
    case CUDA_R_16BF:
        return bf16;
    default:
        return KERNEL_NONE;
    }
}
