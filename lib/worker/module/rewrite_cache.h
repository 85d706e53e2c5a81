/*
 * rewrite_cache.h - a cache of the texts that the passes of ptx/rewrite have made, for whoever
 * loads the same text again: reading, fencing and checking 150 KB of PTX takes 16 ms, finding it a
 * fraction of one. A text is found only by an equal text, byte by byte, and for the same passes.
 * Any thread.
 *
 * Machine code is kept apart (code_cache.h), by the text that these passes made: so code that a
 * former version of the fence let through is never found by a later one.
 *
 * Reports are shared: they do not change once they are made, and the last holder frees them.
 */
#ifndef GS_WORKER_MODULE_REWRITE_CACHE_H
#define GS_WORKER_MODULE_REWRITE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/rewrite/rewrite.h"

/* Makes an empty report, with the caller as its holder. NULL: no memory. */
struct ptx_rewrite_report *report_new(void);
/* Ends a hold on the report. NULL is fine. */
void report_release(struct ptx_rewrite_report *report);

/* Finds a text. True: *report has one more hold, the caller's, and *out is a copy of the new text,
 * NUL-terminated and the caller's to free, or NULL where nothing had to change. */
bool rewrite_cache_find(const char *text, size_t length, unsigned passes, char **out,
                        size_t *out_length, struct ptx_rewrite_report **report, uint32_t uid);
/* Adds copies of the texts, for the user, and holds the report. out NULL: nothing had to change,
 * and out_length is 0. When the cache is full, other texts are evicted first (cache_share.h); a
 * text that is too large, alone or with its report, is not added. */
void rewrite_cache_put(const char *text, size_t length, unsigned passes, const char *out,
                       size_t out_length, struct ptx_rewrite_report *report, uint32_t uid);

#endif
