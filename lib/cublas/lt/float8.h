/* float8.h - products of 8-bit floats, which have scales for A, B, C and D. */
#ifndef GS_CUBLAS_FLOAT8_H
#define GS_CUBLAS_FLOAT8_H

#include "cublas/lt/matmul.h"

/* Returns whether A or B is of such a type. */
bool lt_float8_is(const struct lt_matmul *matmul);
/* Checks that there is a product of these types. Sizes and orders have been checked. */
cublasStatus_t lt_float8_check(const struct lt_matmul *matmul);
/* Enqueues the product, without an epilogue. */
cublasStatus_t lt_float8_run(const struct lt_matmul *matmul, const struct lt_operands *operands,
                             cudaStream_t stream);

#endif
