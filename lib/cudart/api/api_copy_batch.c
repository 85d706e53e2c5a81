/* api_copy_batch.c - several copies by one call. Their attributes are hints of when the source may
 * be read, and of where memory is. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/submit.h"

static cudaError_t batch(void *const *dsts, const void *const *srcs, const size_t *sizes,
                         size_t count, const struct cudaMemcpyAttributes *attributes,
                         const size_t *indexes, size_t attribute_count, size_t *failed,
                         cudaStream_t handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    *failed = SIZE_MAX;
    if (error != cudaSuccess)
        return error;
    /* The legacy stream has no batches. */
    if (dsts == NULL || srcs == NULL || sizes == NULL || count == 0 || attributes == NULL ||
        indexes == NULL || attribute_count == 0 || attribute_count > count || indexes[0] != 0 ||
        stream_is_legacy(stream))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = submit_copy(stream, dsts[i], sizes[i], srcs[i], sizes[i], sizes[i], 1,
                            cudaMemcpyDefault, false);
        if (error != cudaSuccess)
            *failed = i;
    }
    return error;
}

/* Version 12 tells which of the copies failed. */
#ifdef GS_CUDART_12
#define BATCH(name, per_thread)                                                                    \
    CUDART_API cudaError_t name(void **dsts, void **srcs, size_t *sizes, size_t count,             \
                                struct cudaMemcpyAttributes *attributes, size_t *indexes,          \
                                size_t attribute_count, size_t *failed, cudaStream_t stream)       \
    {                                                                                              \
        size_t place;                                                                              \
                                                                                                   \
        return error_record(batch(dsts, (const void *const *)srcs, sizes, count, attributes,       \
                                  indexes, attribute_count, failed != NULL ? failed : &place,      \
                                  stream, per_thread));                                            \
    }
#else
#define BATCH(name, per_thread)                                                                    \
    CUDART_API cudaError_t name(void *const *dsts, const void *const *srcs, const size_t *sizes,   \
                                size_t count, struct cudaMemcpyAttributes *attributes,             \
                                size_t *indexes, size_t attribute_count, cudaStream_t stream)      \
    {                                                                                              \
        size_t place;                                                                              \
                                                                                                   \
        return error_record(batch(dsts, srcs, sizes, count, attributes, indexes, attribute_count,  \
                                  &place, stream, per_thread));                                    \
    }
#endif
BATCH(cudaMemcpyBatchAsync, false)
BATCH(cudaMemcpyBatchAsync_ptsz, true)
