/*
 * bulk.h - copying large pieces of ordinary memory into and out of staging, as fast as the memory
 * allows.
 *
 * Measured on an H200's host, 256 MiB in pieces: memcpy 10 GB/s, streaming stores out of staging 17
 * GB/s, with a second thread 17 and 27 GB/s; CUDA's own pageable copies 8 and 16 GB/s.
 */
#ifndef GS_CLIENT_BULK_H
#define GS_CLIENT_BULK_H

#include <stddef.h>

/* As memcpy. total: bytes of the whole copy that this piece belongs to; from BULK_STREAM on the
 * stores go past the caches, from BULK_HELP on a helper thread, started at the first such copy and
 * kept, takes half. Any thread; does not wait for the helper while another copy uses it. */
void bulk_copy(void *dst, const void *src, size_t size, size_t total);

#define BULK_STREAM (4u << 20)
#define BULK_HELP   (8u << 20)

#endif
