/*
 * copy.h - copies and memsets of bytes and rows on a stream, of the host and of the stream's own
 * device: for peer.h, which knows of other devices. Any thread.
 */
#ifndef GS_CUDART_COPY_H
#define GS_CUDART_COPY_H

#include "cudart/abi.h"
#include "cudart/state/stream.h"

/* Whether the address belongs to the device, as cudaMemcpyDefault needs to know. */
bool copy_is_device(const void *ptr);
/* Whether the host's own access to the address would be a crash. Pinned memory lies among the
 * device's addresses, and is the host's. */
bool copy_host_cannot_reach(const void *ptr);
/* Copies `height` rows of `width` bytes. wait: the call returns when the copy is complete, except
 * within the device and where CUDA does not wait either. */
cudaError_t copy_rows(struct stream *stream, void *dst, size_t dst_pitch, const void *src,
                      size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                      bool wait);
/* What a memset writes: elements of 1, 2 or 4 bytes. */
struct pattern {
    uint32_t value;
    unsigned element;
};
/* Sets `height` rows of `width` bytes. */
cudaError_t set_rows(struct stream *stream, void *dst, size_t pitch, const struct pattern *pattern,
                     size_t width, size_t height);

#endif
