/*
 * api_array_copy.c - copies of rows between CUDA arrays and memory. A name with _ptds or _ptsz is
 * the variant for programs compiled for per-thread default streams.
 */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/submit.h"
#include "cudart/state/array.h"

static struct array_side array_at(cudaArray_const_t array, size_t x, size_t y)
{
    return (struct array_side){.array = array, .at = {x, y, 0}};
}

/* The memory is const here because it may be a source. */
static struct array_side memory_at(const void *memory, size_t pitch, size_t rows)
{
    return (struct array_side){.memory = (void *)(uintptr_t)memory, .pitch = pitch, .rows = rows};
}

/* On which stream a copy runs, and whether the call waits. */
struct how {
    cudaStream_t stream;
    bool per_thread, wait;
};

static cudaError_t copy2d(const struct array_side *dst, const struct array_side *src, size_t width,
                          size_t height, enum cudaMemcpyKind kind, struct how how)
{
    struct stream *stream;
    cudaError_t error = stream_find(how.stream, how.per_thread, &stream);

    if (error == cudaSuccess)
        error =
            submit_array(stream, dst, src, (struct cudaExtent){width, height, 1}, kind, how.wait);
    return error_record(error);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static cudaError_t to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
                            size_t width, size_t height, enum cudaMemcpyKind kind, struct how how)
{
    const struct array_side to = array_at(dst, x, y), from = memory_at(src, pitch, height);

    return copy2d(&to, &from, width, height, kind, how);
}

static cudaError_t from_array(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y,
                              size_t width, size_t height, enum cudaMemcpyKind kind, struct how how)
{
    const struct array_side to = memory_at(dst, pitch, height), from = array_at(src, x, y);

    return copy2d(&to, &from, width, height, kind, how);
}

static cudaError_t between(cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_const_t src,
                           size_t src_x, size_t src_y, size_t width, size_t height,
                           enum cudaMemcpyKind kind, struct how how)
{
    const struct array_side to = array_at(dst, dst_x, dst_y), from = array_at(src, src_x, src_y);

    return copy2d(&to, &from, width, height, kind, how);
}

CUDART_API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src,
                                           size_t pitch, size_t width, size_t height,
                                           enum cudaMemcpyKind kind)
{
    return to_array(dst, x, y, src, pitch, width, height, kind, (struct how){NULL, false, true});
}

CUDART_API cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t dst, size_t x, size_t y,
                                                const void *src, size_t pitch, size_t width,
                                                size_t height, enum cudaMemcpyKind kind)
{
    return to_array(dst, x, y, src, pitch, width, height, kind, (struct how){NULL, true, true});
}

CUDART_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y,
                                                const void *src, size_t pitch, size_t width,
                                                size_t height, enum cudaMemcpyKind kind,
                                                cudaStream_t stream)
{
    return to_array(dst, x, y, src, pitch, width, height, kind, (struct how){stream, false, false});
}

CUDART_API cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t dst, size_t x, size_t y,
                                                     const void *src, size_t pitch, size_t width,
                                                     size_t height, enum cudaMemcpyKind kind,
                                                     cudaStream_t stream)
{
    return to_array(dst, x, y, src, pitch, width, height, kind, (struct how){stream, true, false});
}

CUDART_API cudaError_t cudaMemcpy2DFromArray(void *dst, size_t pitch, cudaArray_const_t src,
                                             size_t x, size_t y, size_t width, size_t height,
                                             enum cudaMemcpyKind kind)
{
    return from_array(dst, pitch, src, x, y, width, height, kind, (struct how){NULL, false, true});
}

CUDART_API cudaError_t cudaMemcpy2DFromArray_ptds(void *dst, size_t pitch, cudaArray_const_t src,
                                                  size_t x, size_t y, size_t width, size_t height,
                                                  enum cudaMemcpyKind kind)
{
    return from_array(dst, pitch, src, x, y, width, height, kind, (struct how){NULL, true, true});
}

CUDART_API cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, cudaArray_const_t src,
                                                  size_t x, size_t y, size_t width, size_t height,
                                                  enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return from_array(dst, pitch, src, x, y, width, height, kind,
                      (struct how){stream, false, false});
}

CUDART_API cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void *dst, size_t pitch,
                                                       cudaArray_const_t src, size_t x, size_t y,
                                                       size_t width, size_t height,
                                                       enum cudaMemcpyKind kind,
                                                       cudaStream_t stream)
{
    return from_array(dst, pitch, src, x, y, width, height, kind,
                      (struct how){stream, true, false});
}

CUDART_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                                cudaArray_const_t src, size_t src_x, size_t src_y,
                                                size_t width, size_t height,
                                                enum cudaMemcpyKind kind)
{
    return between(dst, dst_x, dst_y, src, src_x, src_y, width, height, kind,
                   (struct how){NULL, false, true});
}

CUDART_API cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                                     cudaArray_const_t src, size_t src_x,
                                                     size_t src_y, size_t width, size_t height,
                                                     enum cudaMemcpyKind kind)
{
    return between(dst, dst_x, dst_y, src, src_x, src_y, width, height, kind,
                   (struct how){NULL, true, true});
}

/* ---- Bytes, which go on in the next row ------------------------------------------------------ */

/* The bytes of a row of the array; 0: the handle is invalid, which the copy itself reports. */
static size_t row_of(cudaArray_const_t array)
{
    gs_array_desc desc;

    if (device_use() != cudaSuccess || array_describe(array, &desc) != cudaSuccess)
        return 0;
    return desc.width * array_texel(&desc);
}

/* Advances the side by `count` bytes. */
static void advance(struct array_side *side, size_t row, size_t count)
{
    if (side->array == NULL) {
        side->memory = (char *)side->memory + count;
        return;
    }
    side->at.x += count;
    side->at.y += side->at.x / row;
    side->at.x %= row;
}

/* The part of `count` bytes that one box can copy: up to the end of the row. */
static size_t stretch(const struct array_side *side, size_t row, size_t count)
{
    const size_t left = row - side->at.x;

    return side->array == NULL || count < left ? count : left;
}

static cudaError_t bytes(struct array_side dst, struct array_side src, size_t count,
                         enum cudaMemcpyKind kind, struct how how)
{
    const size_t dst_row = dst.array != NULL ? row_of(dst.array) : 0;
    const size_t src_row = src.array != NULL ? row_of(src.array) : 0;
    cudaError_t error = cudaSuccess;

    if ((dst.array != NULL && dst.at.x >= dst_row) || (src.array != NULL && src.at.x >= src_row))
        return copy2d(&dst, &src, count, 1, kind, how); /* the copy reports what is wrong */
    while (count > 0 && error == cudaSuccess) {
        const size_t part = stretch(&src, src_row, stretch(&dst, dst_row, count));

        dst.pitch = src.pitch = part;
        error = copy2d(&dst, &src, part, 1, kind, how);
        advance(&dst, dst_row, part);
        advance(&src, src_row, part);
        count -= part;
    }
    return error;
}

CUDART_API cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src,
                                         size_t count, enum cudaMemcpyKind kind)
{
    return bytes(array_at(dst, x, y), memory_at(src, 0, 1), count, kind,
                 (struct how){NULL, false, true});
}

CUDART_API cudaError_t cudaMemcpyToArray_ptds(cudaArray_t dst, size_t x, size_t y, const void *src,
                                              size_t count, enum cudaMemcpyKind kind)
{
    return bytes(array_at(dst, x, y), memory_at(src, 0, 1), count, kind,
                 (struct how){NULL, true, true});
}

CUDART_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
                                              size_t count, enum cudaMemcpyKind kind,
                                              cudaStream_t stream)
{
    return bytes(array_at(dst, x, y), memory_at(src, 0, 1), count, kind,
                 (struct how){stream, false, false});
}

CUDART_API cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t dst, size_t x, size_t y,
                                                   const void *src, size_t count,
                                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return bytes(array_at(dst, x, y), memory_at(src, 0, 1), count, kind,
                 (struct how){stream, true, false});
}

CUDART_API cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t x, size_t y,
                                           size_t count, enum cudaMemcpyKind kind)
{
    return bytes(memory_at(dst, 0, 1), array_at(src, x, y), count, kind,
                 (struct how){NULL, false, true});
}

CUDART_API cudaError_t cudaMemcpyFromArray_ptds(void *dst, cudaArray_const_t src, size_t x,
                                                size_t y, size_t count, enum cudaMemcpyKind kind)
{
    return bytes(memory_at(dst, 0, 1), array_at(src, x, y), count, kind,
                 (struct how){NULL, true, true});
}

CUDART_API cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t x,
                                                size_t y, size_t count, enum cudaMemcpyKind kind,
                                                cudaStream_t stream)
{
    return bytes(memory_at(dst, 0, 1), array_at(src, x, y), count, kind,
                 (struct how){stream, false, false});
}

CUDART_API cudaError_t cudaMemcpyFromArrayAsync_ptsz(void *dst, cudaArray_const_t src, size_t x,
                                                     size_t y, size_t count,
                                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return bytes(memory_at(dst, 0, 1), array_at(src, x, y), count, kind,
                 (struct how){stream, true, false});
}

CUDART_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                              cudaArray_const_t src, size_t src_x, size_t src_y,
                                              size_t count, enum cudaMemcpyKind kind)
{
    return bytes(array_at(dst, dst_x, dst_y), array_at(src, src_x, src_y), count, kind,
                 (struct how){NULL, false, true});
}

CUDART_API cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                                   cudaArray_const_t src, size_t src_x,
                                                   size_t src_y, size_t count,
                                                   enum cudaMemcpyKind kind)
{
    return bytes(array_at(dst, dst_x, dst_y), array_at(src, src_x, src_y), count, kind,
                 (struct how){NULL, true, true});
}
