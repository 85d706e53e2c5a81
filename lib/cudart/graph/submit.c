/* submit.c - see submit.h. */
#include "cudart/graph/submit.h"

#include "cudart/graph/capture.h"
#include "cudart/state/event.h"
#include "cudart/state/module.h"
#include "cudart/state/peer.h"
#include "cudart/state/shared_event.h"

/* Called before work in the stream that a capture might forbid. */
static cudaError_t submit_prepare(struct stream *stream, bool wait)
{
    cudaError_t error = capture_forbids_legacy(stream);

    if (error == cudaSuccess && wait && stream_capturing(stream))
        error = capture_refuse(stream);
    return error;
}

cudaError_t submit_copy(struct stream *stream, void *dst, size_t dst_pitch, const void *src,
                        size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                        bool wait)
{
    cudaError_t error = submit_prepare(stream, wait);
    struct op op;

    if (error != cudaSuccess)
        return error;
    variables_note(dst);
    variables_note(src);
    if (!stream_capturing(stream))
        return peer_copy_rows(stream, dst, dst_pitch, src, src_pitch, width, height, kind, wait);
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (width > dst_pitch || width > src_pitch)
        return cudaErrorInvalidPitchValue;
    op_copy_rows(&op, dst, dst_pitch, src, src_pitch, width, height, kind);
    return capture_op(stream, &op);
}

cudaError_t submit_copy3d(struct stream *stream, const struct cudaMemcpy3DParms *params, bool wait)
{
    cudaError_t error = submit_prepare(stream, wait);
    struct op op;

    if (error != cudaSuccess)
        return error;
    variables_note(params->dstPtr.ptr);
    variables_note(params->srcPtr.ptr);
    if (!stream_capturing(stream))
        return array_copy_box(stream, params, wait);
    error = op_copy3d(&op, params);
    return error == cudaSuccess ? capture_op(stream, &op) : error;
}

/* Converts a side to the form of cudaMemcpy3D: x counts texels of an array. */
static cudaError_t side_give(const struct array_side *side, size_t width, cudaArray_t *array,
                             struct cudaPitchedPtr *memory, struct cudaPos *at, size_t *texel)
{
    gs_array_desc desc;
    cudaError_t error;

    *at = side->at;
    if (side->array == NULL) {
        *memory = (struct cudaPitchedPtr){side->memory, side->pitch, width, side->rows};
        return cudaSuccess;
    }
    *array = (cudaArray_t)(uintptr_t)side->array; // NOLINT: without const
    error = array_describe(side->array, &desc);
    if (error != cudaSuccess)
        return error;
    *texel = array_texel(&desc);
    if (at->x % *texel != 0 || width % *texel != 0)
        return cudaErrorInvalidValue;
    at->x /= *texel;
    return cudaSuccess;
}

static cudaError_t capture_array(struct stream *stream, const struct array_side *dst,
                                 const struct array_side *src, struct cudaExtent extent,
                                 enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms box = {.extent = extent, .kind = kind};
    size_t texel = 1;
    struct op op;
    cudaError_t error =
        side_give(dst, extent.width, &box.dstArray, &box.dstPtr, &box.dstPos, &texel);

    if (error == cudaSuccess)
        error = side_give(src, extent.width, &box.srcArray, &box.srcPtr, &box.srcPos, &texel);
    if (error != cudaSuccess)
        return error;
    box.extent.width /= texel;
    error = op_copy3d(&op, &box);
    return error == cudaSuccess ? capture_op(stream, &op) : error;
}

cudaError_t submit_array(struct stream *stream, const struct array_side *dst,
                         const struct array_side *src, struct cudaExtent extent,
                         enum cudaMemcpyKind kind, bool wait)
{
    cudaError_t error = submit_prepare(stream, wait);

    if (error != cudaSuccess)
        return error;
    variables_note(dst->memory);
    variables_note(src->memory);
    if (stream_capturing(stream))
        return capture_array(stream, dst, src, extent, kind);
    return array_copy(stream, dst, src, extent, kind, wait);
}

cudaError_t submit_set(struct stream *stream, void *dst, size_t pitch, int value, size_t width,
                       size_t height)
{
    struct cudaMemsetParams params = {dst, pitch, (unsigned char)value, 1, width, height};
    cudaError_t error = submit_prepare(stream, false);
    struct op op;

    if (error != cudaSuccess)
        return error;
    variables_note(dst);
    if (!stream_capturing(stream))
        return peer_set_rows(stream, dst, pitch, &(struct pattern){(unsigned char)value, 1}, width,
                             height);
    error = op_memset(&op, &params);
    return error == cudaSuccess ? capture_op(stream, &op) : error;
}

cudaError_t submit_record(struct stream *stream, cudaEvent_t handle)
{
    gs_event event;
    cudaError_t error = event_find(handle, &event);
    gs_status status;

    if (error == cudaSuccess)
        error = capture_forbids_legacy(stream);
    if (error != cudaSuccess)
        return error;
    if (stream_capturing(stream))
        return capture_record(stream, handle);
    capture_event_remove(handle);
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_event_record(event, stream->handle);
    if (status == GS_OK)
        stream_leave(stream);
    error = stream_error(stream, status);
    if (error == cudaSuccess && event_shared(handle) != NULL)
        error = shared_event_record(event_shared(handle), stream);
    return error;
}
