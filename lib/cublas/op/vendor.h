/*
 * vendor.h - products by NVIDIA's library, if the server has it and the operation is supported
 * there.
 */
#ifndef GS_CUBLAS_VENDOR_H
#define GS_CUBLAS_VENDOR_H

#include "cublas/op/operation.h"

/* Submits a checked product, with a C and a k, to the server. Returns whether the server has taken
 * it; if not, nothing has happened, and the caller computes the product. */
bool vendor_gemm(cublasHandle_t handle, const struct operation *op);

#endif
