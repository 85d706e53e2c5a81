/* array.h - CUDA arrays, whose handles are libgshare's, and copies between them and memory. */
#ifndef GS_CUDART_ARRAY_H
#define GS_CUDART_ARRAY_H

#include "cudart/abi.h"
#include "cudart/state/stream.h"

/* cudaErrorInvalidChannelDescriptor: texels have 1, 2 or 4 channels of the same 8, 16 or 32 bits.
 */
cudaError_t array_format(const struct cudaChannelFormatDesc *desc, gs_format *format,
                         unsigned *channels);
struct cudaChannelFormatDesc array_channels(const gs_array_desc *desc);
/* Bytes of a texel. */
size_t array_texel(const gs_array_desc *desc);
/* The call's device is attached. cudaErrorInvalidResourceHandle: not an array, or a mipmapped one.
 */
cudaError_t array_describe(cudaArray_const_t array, gs_array_desc *desc);

/* One side of a copy: an array, or rows at `memory`. x counts bytes. */
struct array_side {
    cudaArray_const_t array; /* NULL: the side is memory */
    void *memory;
    struct cudaPos at;
    size_t pitch, rows; /* of memory */
};

/* Copies a box; extent.width is in bytes. wait: if host memory takes part, returns after the copy
 * is complete. */
cudaError_t array_copy(struct stream *stream, const struct array_side *dst,
                       const struct array_side *src, struct cudaExtent extent,
                       enum cudaMemcpyKind kind, bool wait);
/* Copies a box as cudaMemcpy3D describes it. Without an array it is peer_copy_box. */
cudaError_t array_copy_box(struct stream *stream, const struct cudaMemcpy3DParms *params,
                           bool wait);

#endif
