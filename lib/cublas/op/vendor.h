/*
 * vendor.h - products by NVIDIA's library in the server, where it has that and the operation is one
 * that it takes.
 */
#ifndef GS_CUBLAS_VENDOR_H
#define GS_CUBLAS_VENDOR_H

#include "cublas/op/operation.h"

/* Whether the server has taken the product, a checked one with a C and a k. If not, nothing has
 * happened, and the caller computes it. */
bool vendor_gemm(cublasHandle_t handle, const struct operation *op);

#endif
