/*
 * bulk.h - copies large slices of ordinary memory into and out of staging, at the speed of the
 * memory.
 *
 * Measured on an H200's host, 256 MiB in slices, into and out of staging: memcpy 10 GB/s, streaming
 * stores 17 GB/s out of it, with a second thread 17 and 27 GB/s; CUDA's own pageable copies 8 and
 * 16 GB/s. Copies of 1 MiB one after the other: a second thread that is still awake raises 15.2 to
 * 16.3 GB/s into staging, and 11.9 to 15.7 GB/s out of it.
 */
#ifndef GS_CLIENT_BULK_H
#define GS_CLIENT_BULK_H

#include <stddef.h>

enum bulk_way { BULK_IN, BULK_OUT }; /* of staging */

/* Copies as memcpy does. total: bytes of the whole copy that this slice belongs to. From
 * BULK_STREAM_IN or BULK_STREAM_OUT bytes on, the stores bypass the caches. From BULK_HELP bytes
 * on, a helper thread copies half of the slice; from BULK_HELP_AWAKE on only if the helper is
 * awake, as it is while copies follow one another. The first such copy starts the helper, which
 * then stays. Any thread; a copy that finds the helper in use copies all by itself. */
void bulk_copy(enum bulk_way way, void *dst, const void *src, size_t size, size_t total);

#define BULK_STREAM_IN  (512u << 10)
#define BULK_STREAM_OUT (4u << 20)
#define BULK_HELP_AWAKE (512u << 10)
#define BULK_HELP       (8u << 20)

#endif
