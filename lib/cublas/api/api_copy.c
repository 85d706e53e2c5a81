/* api_copy.c - copies vectors and matrices between host and device, by the runtime's copies. */
#include "cublas/api/api.h"
#include "cublas/base/runtime.h"

/* Copies a matrix. A vector is a matrix of one row. */
static cublasStatus_t copy(int64_t rows, int64_t columns, int64_t size, const void *from,
                           int64_t from_ld, void *to, int64_t to_ld, enum cudaMemcpyKind kind,
                           const cudaStream_t *stream)
{
    size_t width = (size_t)(rows * size), to_pitch = (size_t)(to_ld * size),
           from_pitch = (size_t)(from_ld * size);
    cudaError_t error;

    if (rows == 0 || columns == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (rows < 0 || columns < 0 || size <= 0 || from_ld < rows || to_ld < rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    error = stream == NULL
                ? cudaMemcpy2D(to, to_pitch, from, from_pitch, width, (size_t)columns, kind)
                : cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, (size_t)columns, kind,
                                    *stream);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

#define COPIES(form, N, name, kind)                                                                \
    CUBLAS_API cublasStatus_t cublas##name##Vector##form(N n, N size, const void *x, N incx,       \
                                                         void *y, N incy)                          \
    {                                                                                              \
        return copy(n != 0, n, size, x, incx, y, incy, kind, NULL);                                \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##name##VectorAsync##form(                                     \
        N n, N size, const void *x, N incx, void *y, N incy, cudaStream_t stream)                  \
    {                                                                                              \
        return copy(n != 0, n, size, x, incx, y, incy, kind, &stream);                             \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##name##Matrix##form(N rows, N columns, N size, const void *a, \
                                                         N lda, void *b, N ldb)                    \
    {                                                                                              \
        return copy(rows, columns, size, a, lda, b, ldb, kind, NULL);                              \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##name##MatrixAsync##form(                                     \
        N rows, N columns, N size, const void *a, N lda, void *b, N ldb, cudaStream_t stream)      \
    {                                                                                              \
        return copy(rows, columns, size, a, lda, b, ldb, kind, &stream);                           \
    }

BOTH_FORMS(COPIES, Set, cudaMemcpyHostToDevice)
BOTH_FORMS(COPIES, Get, cudaMemcpyDeviceToHost)
