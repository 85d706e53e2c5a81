/*
 * matmul.h - D = epilogue(alpha op(A) op(B) + beta C), of matrices in either order: a product of
 * operation.h, followed by an epilogue kernel of kernels/epilogue.cu.
 */
#ifndef GS_CUBLAS_MATMUL_H
#define GS_CUBLAS_MATMUL_H

#include "cublas/lt/descriptor.h"

struct lt_matmul {
    const struct lt_desc *desc;
    const struct lt_layout *a, *b, *c, *d;
};

/* Checks that such a product is supported: sizes, types, orders, epilogue. */
cublasStatus_t lt_matmul_check(const struct lt_matmul *matmul);

struct lt_operands {
    const void *alpha, *a, *b, *beta, *c;
    void *d;
};

/* Enqueues the product. It is rounded to D's type before the epilogue reads it. */
cublasStatus_t lt_matmul_run(const struct lt_matmul *matmul, const struct lt_operands *operands,
                             cudaStream_t stream);

#endif
