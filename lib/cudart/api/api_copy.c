/*
 * api_copy.c - cudaMemcpy, cudaMemset and their variants. A name with _ptds or _ptsz is the variant
 * for programs compiled for per-thread default streams.
 */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/submit.h"

/* ---- Copies ---------------------------------------------------------------------------------- */

static cudaError_t copy(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                        size_t width, size_t height, enum cudaMemcpyKind kind,
                        cudaStream_t stream_handle, bool per_thread, bool wait)
{
    struct stream *stream;
    cudaError_t error = stream_find(stream_handle, per_thread, &stream);

    if (error == cudaSuccess)
        error = submit_copy(stream, dst, dst_pitch, src, src_pitch, width, height, kind, wait);
    return error_record(error);
}

CUDART_API cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind)
{
    return copy(dst, size, src, size, size, 1, kind, NULL, false, true);
}

CUDART_API cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t size,
                                       enum cudaMemcpyKind kind)
{
    return copy(dst, size, src, size, size, 1, kind, NULL, true, true);
}

CUDART_API cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(dst, size, src, size, size, 1, kind, stream, false, false);
}

CUDART_API cudaError_t cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t size,
                                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(dst, size, src, size, size, 1, kind, stream, true, false);
}

CUDART_API cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                                    size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy(dst, dst_pitch, src, src_pitch, width, height, kind, NULL, false, true);
}

CUDART_API cudaError_t cudaMemcpy2D_ptds(void *dst, size_t dst_pitch, const void *src,
                                         size_t src_pitch, size_t width, size_t height,
                                         enum cudaMemcpyKind kind)
{
    return copy(dst, dst_pitch, src, src_pitch, width, height, kind, NULL, true, true);
}

CUDART_API cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src,
                                         size_t src_pitch, size_t width, size_t height,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(dst, dst_pitch, src, src_pitch, width, height, kind, stream, false, false);
}

CUDART_API cudaError_t cudaMemcpy2DAsync_ptsz(void *dst, size_t dst_pitch, const void *src,
                                              size_t src_pitch, size_t width, size_t height,
                                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(dst, dst_pitch, src, src_pitch, width, height, kind, stream, true, false);
}

/* An address determines its device, so the numbers only need to be valid. */
static cudaError_t copy_peer(void *dst, int dst_device, const void *src, int src_device,
                             size_t size, cudaStream_t stream)
{
    cudaError_t error = device_use_number(dst_device);

    if (error == cudaSuccess)
        error = device_use_number(src_device);
    if (error != cudaSuccess)
        return error_record(error);
    return copy(dst, size, src, size, size, 1, cudaMemcpyDeviceToDevice, stream, false, false);
}

CUDART_API cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device,
                                      size_t size)
{
    return copy_peer(dst, dst_device, src, src_device, size, NULL);
}

CUDART_API cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src,
                                           int src_device, size_t size, cudaStream_t stream)
{
    return copy_peer(dst, dst_device, src, src_device, size, stream);
}

/* ---- Memsets: none waits, as CUDA's do not for device memory --------------------------------- */

static cudaError_t set(void *dst, size_t pitch, int value, size_t width, size_t height,
                       cudaStream_t stream_handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(stream_handle, per_thread, &stream);

    if (error == cudaSuccess)
        error = submit_set(stream, dst, pitch, value, width, height);
    return error_record(error);
}

CUDART_API cudaError_t cudaMemset(void *dst, int value, size_t size)
{
    return set(dst, size, value, size, 1, NULL, false);
}

CUDART_API cudaError_t cudaMemset_ptds(void *dst, int value, size_t size)
{
    return set(dst, size, value, size, 1, NULL, true);
}

CUDART_API cudaError_t cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t stream)
{
    return set(dst, size, value, size, 1, stream, false);
}

CUDART_API cudaError_t cudaMemsetAsync_ptsz(void *dst, int value, size_t size, cudaStream_t stream)
{
    return set(dst, size, value, size, 1, stream, true);
}

CUDART_API cudaError_t cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    return set(dst, pitch, value, width, height, NULL, false);
}

CUDART_API cudaError_t cudaMemset2D_ptds(void *dst, size_t pitch, int value, size_t width,
                                         size_t height)
{
    return set(dst, pitch, value, width, height, NULL, true);
}

CUDART_API cudaError_t cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width,
                                         size_t height, cudaStream_t stream)
{
    return set(dst, pitch, value, width, height, stream, false);
}

CUDART_API cudaError_t cudaMemset2DAsync_ptsz(void *dst, size_t pitch, int value, size_t width,
                                              size_t height, cudaStream_t stream)
{
    return set(dst, pitch, value, width, height, stream, true);
}
