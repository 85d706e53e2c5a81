/*
 * rewrite_cache.h - what the passes of ptx/rewrite have made of a text, kept for whoever loads the
 * same text again: reading, fencing and checking 150 KB of PTX takes 16 ms, finding it a fraction
 * of one. What is found has the same text byte by byte, and was made by the same passes. Any
 * thread.
 *
 * Machine code is kept apart (code_cache.h), by the text that these passes made: so code that a
 * former version of the fence let through is never found by a later one.
 *
 * Reports are shared: constant once they are made, and freed with the last who holds them.
 */
#ifndef GS_WORKER_MODULE_REWRITE_CACHE_H
#define GS_WORKER_MODULE_REWRITE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/rewrite/rewrite.h"

/* An empty report, which its maker holds. NULL: no memory. */
struct ptx_rewrite_report *report_new(void);
/* NULL is fine. */
void report_release(struct ptx_rewrite_report *report);

/* True: *report is held for the caller, and *out a copy of the new text, NUL-terminated and the
 * caller's to free, or NULL where nothing had to change. */
bool rewrite_cache_find(const char *text, size_t length, unsigned passes, char **out,
                        size_t *out_length, struct ptx_rewrite_report **report, uint32_t uid);
/* Keeps copies of the texts, for the user, and holds the report; out NULL: nothing had to change,
 * and out_length is 0. Where that is too much, other texts go first (cache_share.h); a text that is
 * large by itself, or with its report, is not kept. */
void rewrite_cache_put(const char *text, size_t length, unsigned passes, const char *out,
                       size_t out_length, struct ptx_rewrite_report *report, uint32_t uid);

#endif
