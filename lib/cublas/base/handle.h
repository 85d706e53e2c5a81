/*
 * handle.h - a cuBLAS handle: settings, and device memory for one result. As with cuBLAS, a program
 * uses a handle in one thread at a time.
 */
#ifndef GS_CUBLAS_HANDLE_H
#define GS_CUBLAS_HANDLE_H

#include "cublas/abi.h"

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasAtomicsMode_t atomics_mode;
    cublasMath_t math_mode;
    int sm_count_target;
    /* Device memory for one result. A call whose result goes to the host writes it here and waits,
     * so no two calls need it at once. */
    void *result;
};

cublasStatus_t handle_new(struct cublasContext **out);
cublasStatus_t handle_free(struct cublasContext *handle);

/* Copies a result of `size` bytes from handle->result to the host, after the stream's work. */
cublasStatus_t handle_result(struct cublasContext *handle, void *to, size_t size);

#endif
