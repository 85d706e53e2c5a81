/*
 * api_copy3d.c - three-dimensional copies. Slices of pitched memory are copied and set one by one;
 * a box that involves an array is one copy.
 */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/submit.h"

static cudaError_t copy3d(const struct cudaMemcpy3DParms *p, cudaStream_t stream_handle,
                          bool per_thread, bool wait)
{
    struct stream *stream;
    cudaError_t error = stream_find(stream_handle, per_thread, &stream);

    if (error != cudaSuccess)
        return error;
    if (p == NULL)
        return cudaErrorInvalidValue;
    return submit_copy3d(stream, p, wait);
}

CUDART_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return error_record(copy3d(p, NULL, false, true));
}

CUDART_API cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *p)
{
    return error_record(copy3d(p, NULL, true, true));
}

CUDART_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return error_record(copy3d(p, stream, false, false));
}

CUDART_API cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *p,
                                              cudaStream_t stream)
{
    return error_record(copy3d(p, stream, true, false));
}

static cudaError_t copy3d_peer(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream,
                               bool per_thread)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error;

    if (p == NULL)
        return error_record(cudaErrorInvalidValue);
    error = device_use_number(p->srcDevice);
    if (error == cudaSuccess)
        error = device_use_number(p->dstDevice);
    if (error != cudaSuccess)
        return error_record(error);
    copy = (struct cudaMemcpy3DParms){.srcArray = p->srcArray,
                                      .srcPos = p->srcPos,
                                      .srcPtr = p->srcPtr,
                                      .dstArray = p->dstArray,
                                      .dstPos = p->dstPos,
                                      .dstPtr = p->dstPtr,
                                      .extent = p->extent,
                                      .kind = cudaMemcpyDeviceToDevice};
    return error_record(copy3d(&copy, stream, per_thread, false));
}

CUDART_API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return copy3d_peer(p, NULL, false);
}

CUDART_API cudaError_t cudaMemcpy3DPeer_ptds(const struct cudaMemcpy3DPeerParms *p)
{
    return copy3d_peer(p, NULL, true);
}

CUDART_API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p,
                                             cudaStream_t stream)
{
    return copy3d_peer(p, stream, false);
}

CUDART_API cudaError_t cudaMemcpy3DPeerAsync_ptsz(const struct cudaMemcpy3DPeerParms *p,
                                                  cudaStream_t stream)
{
    return copy3d_peer(p, stream, true);
}

static cudaError_t set_box(struct cudaPitchedPtr memory, int value, struct cudaExtent extent,
                           cudaStream_t stream_handle, bool per_thread)
{
    struct stream *stream;
    size_t slice = memory.pitch * memory.ysize;
    cudaError_t error = stream_find(stream_handle, per_thread, &stream);

    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
        error = submit_set(stream, (char *)memory.ptr + z * slice, memory.pitch, value,
                           extent.width, extent.height);
    return error_record(error);
}

CUDART_API cudaError_t cudaMemset3D(struct cudaPitchedPtr memory, int value,
                                    struct cudaExtent extent)
{
    return set_box(memory, value, extent, NULL, false);
}

CUDART_API cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr memory, int value,
                                         struct cudaExtent extent)
{
    return set_box(memory, value, extent, NULL, true);
}

CUDART_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr memory, int value,
                                         struct cudaExtent extent, cudaStream_t stream)
{
    return set_box(memory, value, extent, stream, false);
}

CUDART_API cudaError_t cudaMemset3DAsync_ptsz(struct cudaPitchedPtr memory, int value,
                                              struct cudaExtent extent, cudaStream_t stream)
{
    return set_box(memory, value, extent, stream, true);
}
