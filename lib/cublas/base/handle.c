/* handle.c - see handle.h. */
#include "cublas/base/handle.h"

#include <stdlib.h>

#include "cublas/base/runtime.h"

enum { RESULT_BYTES = 16, CAPABILITY_MIN = 8 };

cublasStatus_t handle_new(struct cublasContext **out)
{
    struct cublasContext *handle = calloc(1, sizeof(*handle));
    int device = 0, major = 0;
    cudaError_t error;

    if (handle == NULL)
        return CUBLAS_STATUS_ALLOC_FAILED;
    error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess && major < CAPABILITY_MIN) {
        free(handle);
        return CUBLAS_STATUS_ARCH_MISMATCH;
    }
    if (error == cudaSuccess)
        error = cudaMalloc(&handle->result, RESULT_BYTES);
    if (error != cudaSuccess) {
        free(handle);
        return error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                                  : CUBLAS_STATUS_NOT_INITIALIZED;
    }
    handle->atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
    *out = handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t handle_free(struct cublasContext *handle)
{
    /* cudaFree waits for the device's work, as cublasDestroy does. */
    cudaFree(handle->result);
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t handle_result(struct cublasContext *handle, void *to, size_t size)
{
    if (cudaMemcpyAsync(to, handle->result, size, cudaMemcpyDeviceToHost, handle->stream) !=
            cudaSuccess ||
        cudaStreamSynchronize(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return CUBLAS_STATUS_SUCCESS;
}
