/*
 * copy.h - copies and memsets of bytes and rows on a stream, in host memory and memory of the
 * stream's own device. peer.h adds other devices. Any thread.
 */
#ifndef GS_CUDART_COPY_H
#define GS_CUDART_COPY_H

#include "cudart/abi.h"
#include "cudart/state/stream.h"

/* Whether the address is device memory, for cudaMemcpyDefault. */
bool copy_is_device(const void *ptr);
/* Whether an access by the host would crash. Pinned memory has addresses of the device, but the
 * host reaches it. */
bool copy_host_cannot_reach(const void *ptr);
/* Copies `height` rows of `width` bytes. wait: returns when the copy is complete, unless it stays
 * within the device or is another copy for which CUDA does not wait. */
cudaError_t copy_rows(struct stream *stream, void *dst, size_t dst_pitch, const void *src,
                      size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                      bool wait);
/* The value of a memset: an element of 1, 2 or 4 bytes. */
struct pattern {
    uint32_t value;
    unsigned element;
};
/* Sets `height` rows of `width` bytes. */
cudaError_t set_rows(struct stream *stream, void *dst, size_t pitch, const struct pattern *pattern,
                     size_t width, size_t height);

#endif
