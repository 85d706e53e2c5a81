/*
 * peer.h - copies on a stream of one device, of memory that may belong to other devices.
 *
 * The devices' sessions are of different workers, so that no stream of one can wait for the
 * other's. Work on another device than the stream's therefore waits for the stream's earlier work,
 * goes in the legacy stream of the memory's device, and is complete when the call returns. Between
 * two devices bytes pass through pinned memory, in slices of which one is read while the one before
 * is written. Where the stream's device has peer access to the memory (peer_access.h), the copy is
 * as any other of that stream.
 */
#ifndef GS_CUDART_PEER_H
#define GS_CUDART_PEER_H

#include "cudart/state/copy.h"

/* As copy_rows and set_rows. A memset needs memory that the stream's device or the host reaches. */
cudaError_t peer_copy_rows(struct stream *stream, void *dst, size_t dst_pitch, const void *src,
                           size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                           bool wait);
cudaError_t peer_set_rows(struct stream *stream, void *dst, size_t pitch,
                          const struct pattern *pattern, size_t width, size_t height);
/* Copies a box of pitched memory, slice by slice; arrays are not supported. */
cudaError_t peer_copy_box(struct stream *stream, const struct cudaMemcpy3DParms *p, bool wait);

#endif
