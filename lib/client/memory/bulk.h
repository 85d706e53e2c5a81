/*
 * bulk.h - copying large pieces of ordinary memory into and out of staging, as fast as the memory
 * allows.
 *
 * Measured on an H200's host, 256 MiB in pieces: memcpy 10 GB/s, streaming stores out of staging 17
 * GB/s, with a second thread 17 and 27 GB/s; CUDA's own pageable copies 8 and 16 GB/s. Copies of 1
 * MiB one after the other, with a second thread that is still awake: in 16.3 GB/s, not 15.2,
 * out 15.7, not 11.9.
 */
#ifndef GS_CLIENT_BULK_H
#define GS_CLIENT_BULK_H

#include <stddef.h>

enum bulk_way { BULK_IN, BULK_OUT }; /* of staging */

/* As memcpy. total: bytes of the whole copy that this piece belongs to; from a size on that depends
 * on the way the stores go past the caches, from BULK_HELP on a helper thread, started at the first
 * such copy and kept, takes half; from BULK_HELP_AWAKE on where it is awake, as it is when such
 * copies follow one another. Any thread; does not wait for the helper while another copy uses it.
 */
void bulk_copy(enum bulk_way way, void *dst, const void *src, size_t size, size_t total);

#define BULK_STREAM_IN  (512u << 10)
#define BULK_STREAM_OUT (4u << 20)
#define BULK_HELP_AWAKE (512u << 10)
#define BULK_HELP       (8u << 20)

#endif
