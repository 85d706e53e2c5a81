/*
 * api_copy3d.c - pitched memory of three dimensions: its slices are copied and set one by one. CUDA
 * arrays there are none.
 */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/state/copy.h"

/* Where the box begins: its first slice, and the bytes from one slice to the next. */
static char *box_at(const struct cudaPitchedPtr *memory, const struct cudaPos *at, size_t *slice)
{
    *slice = memory->pitch * memory->ysize;
    return (char *)memory->ptr + at->z * *slice + at->y * memory->pitch + at->x;
}

static cudaError_t copy_box(const struct cudaMemcpy3DParms *p, cudaStream_t stream_handle,
                            bool per_thread, bool wait)
{
    struct stream *stream;
    size_t dst_slice, src_slice;
    const char *src;
    char *dst;
    cudaError_t error = stream_find(stream_handle, per_thread, &stream);

    if (error != cudaSuccess)
        return error;
    if (p == NULL)
        return cudaErrorInvalidValue;
    if (p->srcArray != NULL || p->dstArray != NULL)
        return error_unsupported("cudaMemcpy3D of arrays");
    dst = box_at(&p->dstPtr, &p->dstPos, &dst_slice);
    src = box_at(&p->srcPtr, &p->srcPos, &src_slice);
    for (size_t z = 0; z < p->extent.depth && error == cudaSuccess; z++)
        error = copy_rows(stream, dst + z * dst_slice, p->dstPtr.pitch, src + z * src_slice,
                          p->srcPtr.pitch, p->extent.width, p->extent.height, p->kind,
                          wait && z + 1 == p->extent.depth);
    return error;
}

CUDART_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return error_record(copy_box(p, NULL, false, true));
}

CUDART_API cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *p)
{
    return error_record(copy_box(p, NULL, true, true));
}

CUDART_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return error_record(copy_box(p, stream, false, false));
}

CUDART_API cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *p,
                                              cudaStream_t stream)
{
    return error_record(copy_box(p, stream, true, false));
}

static cudaError_t set_box(struct cudaPitchedPtr memory, int value, struct cudaExtent extent,
                           cudaStream_t stream_handle, bool per_thread)
{
    struct stream *stream;
    size_t slice = memory.pitch * memory.ysize;
    cudaError_t error = stream_find(stream_handle, per_thread, &stream);

    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
        error = set_rows(stream, (char *)memory.ptr + z * slice, memory.pitch, value, extent.width,
                         extent.height);
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
