/* operators.h - the functions that operators.def names, and their common helpers. */
#ifndef GS_CUBLAS_OPERATORS_H
#define GS_CUBLAS_OPERATORS_H

#include "cublas/base/kernels.h"
#include "cublas/op/operation.h"

#define OPERATOR(name, check, run)                                                                 \
    cublasStatus_t check(const struct operation *op);                                              \
    cublasStatus_t run(cublasHandle_t handle, const struct operation *op);
#include "cublas/operators.def"
#undef OPERATOR

/* The most rows or columns, since kernels count these in 32 bits. */
#define SIZE_MOST 0x7fff0000

bool trans_valid(cublasOperation_t trans);
/* Returns whether the record names a triangle. */
bool fill_valid(const struct operation *op);
/* Returns whether the record has valid values for a triangular A: the triangle, op() and the kind
 * of diagonal. */
bool triangle_valid(const struct operation *op);
/* Returns whether a stored matrix of that many rows can have this leading dimension. */
bool ld_valid(int64_t ld, int64_t rows);
/* Returns the matrix, or its transpose, in the kernels' form. */
struct matrix matrix_of(const struct operand *operand, bool transposed);
/* Returns op() of the matrix, conjugated for CUBLAS_OP_C. */
struct matrix matrix_op(const struct operand *operand, cublasOperation_t trans);
/* Returns a vector of n elements, with the address of its first element, which is last in memory if
 * the increment is negative. */
struct matrix vector_of(const struct operand *operand, int64_t n);
/* Returns the kernel for a type; KERNEL_NONE: there is none. */
enum kernel_name kernel_by_type(cudaDataType type, enum kernel_name f32, enum kernel_name f64,
                                enum kernel_name c32, enum kernel_name c64, enum kernel_name f16,
                                enum kernel_name bf16);
#define KERNEL_BY_TYPE_16(type, name)                                                              \
    kernel_by_type(type, KERNEL_##name##_f32, KERNEL_##name##_f64, KERNEL_##name##_c32,            \
                   KERNEL_##name##_c64, KERNEL_##name##_f16, KERNEL_##name##_bf16)
#define KERNEL_BY_TYPE(type, name)                                                                 \
    kernel_by_type(type, KERNEL_##name##_f32, KERNEL_##name##_f64, KERNEL_##name##_c32,            \
                   KERNEL_##name##_c64, KERNEL_NONE, KERNEL_NONE)

/* Computes the record's product by the kernel for complex numbers and for symmetric matrices.
 * `a_fill` and `b_fill`: the triangle of A or B that is read; FILL_ALL: the whole matrix. */
cublasStatus_t product_launch(cublasHandle_t handle, const struct operation *op, unsigned a_fill,
                              unsigned b_fill);

static inline unsigned blocks(int64_t n, unsigned each)
{
    return (unsigned)((n + each - 1) / each);
}

/* Returns the number of blocks in the grid's third dimension, which has 65,535 at most; kernels
 * loop over the rest. */
static inline unsigned layers(int64_t n)
{
    return n < 65535 ? (unsigned)n : 65535;
}

#endif
