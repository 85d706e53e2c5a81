/* submit.h - submits copies, memsets and event records to a stream, or to the graph that it
 * captures. */
#ifndef GS_CUDART_SUBMIT_H
#define GS_CUDART_SUBMIT_H

#include "cudart/abi.h"
#include "cudart/state/array.h"
#include "cudart/state/stream.h"

cudaError_t submit_copy(struct stream *stream, void *dst, size_t dst_pitch, const void *src,
                        size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                        bool wait);
cudaError_t submit_copy3d(struct stream *stream, const struct cudaMemcpy3DParms *params, bool wait);
/* Copies like array_copy. */
cudaError_t submit_array(struct stream *stream, const struct array_side *dst,
                         const struct array_side *src, struct cudaExtent extent,
                         enum cudaMemcpyKind kind, bool wait);
cudaError_t submit_set(struct stream *stream, void *dst, size_t pitch, int value, size_t width,
                       size_t height);
/* Records the event, which belongs to the stream's device, after the stream's work. */
cudaError_t submit_record(struct stream *stream, cudaEvent_t handle);

#endif
