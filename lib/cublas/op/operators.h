/* operators.h - the functions that operators.def names, and what they have in common. */
#ifndef GS_CUBLAS_OPERATORS_H
#define GS_CUBLAS_OPERATORS_H

#include "cublas/base/kernels.h"
#include "cublas/op/operation.h"

#define OPERATOR(name, check, run)                                                                 \
    cublasStatus_t check(const struct operation *op);                                              \
    cublasStatus_t run(cublasHandle_t handle, const struct operation *op);
#include "cublas/operators.def"
#undef OPERATOR

/* The largest number of rows or columns, which kernels count in 32 bits. */
#define SIZE_MOST 0x7fff0000

bool trans_valid(cublasOperation_t trans);
/* Whether the record names a triangle. */
bool fill_valid(const struct operation *op);
/* Whether it says how a triangular A is read: which triangle, by op(), and what its diagonal is. */
bool triangle_valid(const struct operation *op);
/* Whether a stored matrix of that many rows can have this leading dimension. */
bool ld_valid(int64_t ld, int64_t rows);
/* The matrix, or its transpose, as kernels take it. */
struct matrix matrix_of(const struct operand *operand, bool transposed);
/* op() of the matrix, which for C is conjugated too. */
struct matrix matrix_op(const struct operand *operand, cublasOperation_t trans);
/* A vector of n elements: the address is that of its first, which with a negative increment lies
 * last in memory. */
struct matrix vector_of(const struct operand *operand, int64_t n);
/* The kernel's name by type; KERNEL_NONE: there is none of it. */
enum kernel_name kernel_by_type(cudaDataType type, enum kernel_name f32, enum kernel_name f64,
                                enum kernel_name c32, enum kernel_name c64, enum kernel_name f16,
                                enum kernel_name bf16);
#define KERNEL_BY_TYPE_16(type, name)                                                              \
    kernel_by_type(type, KERNEL_##name##_f32, KERNEL_##name##_f64, KERNEL_##name##_c32,            \
                   KERNEL_##name##_c64, KERNEL_##name##_f16, KERNEL_##name##_bf16)
#define KERNEL_BY_TYPE(type, name)                                                                 \
    kernel_by_type(type, KERNEL_##name##_f32, KERNEL_##name##_f64, KERNEL_##name##_c32,            \
                   KERNEL_##name##_c64, KERNEL_NONE, KERNEL_NONE)

/* Computes the record's product by the kernel that takes complex numbers, and A or B of which one
 * triangle is read: FILL_ALL is none. */
cublasStatus_t product_launch(cublasHandle_t handle, const struct operation *op, unsigned a_fill,
                              unsigned b_fill);

static inline unsigned blocks(int64_t n, unsigned each)
{
    return (unsigned)((n + each - 1) / each);
}

/* Blocks in the grid's third dimension, which has 65,535 at most; kernels go over the rest. */
static inline unsigned layers(int64_t n)
{
    return n < 65535 ? (unsigned)n : 65535;
}

#endif
