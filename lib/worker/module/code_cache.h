/*
 * code_cache.h - a cache of the machine code that was made of PTX, for whoever loads the same text
 * again: another tenant, or the same one in the next worker. A fenced kernel's text is the same for
 * all tenants (ptx/rewrite), and compiling it takes milliseconds to seconds.
 *
 * The cache is a memfd of the supervisor's that all workers of the device map, one after the other;
 * code that it lacks may be on disk, from a former server (code_disk.h). A text is found only by an
 * equal text, byte by byte, so no tenant can put code in another's place. A quick load, though,
 * tells a tenant that somebody has loaded this text before (doc/isolation.md). Any thread.
 */
#ifndef GS_WORKER_MODULE_CODE_CACHE_H
#define GS_WORKER_MODULE_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/link.h"

/* Maps the memfd. Code in it that was made for another device, driver or ptxas is dropped. false:
 * the cache stays empty. Called once, when no former worker of the device runs any more, and before
 * service threads do. */
bool code_cache_open(int fd, const struct link_device *info);
/* Returns a copy of the code for the text, which the caller frees, and its size; NULL: there is
 * none. May wait for the disk, two seconds at most. */
unsigned char *code_cache_find(const unsigned char *text, size_t size, size_t *code_size,
                               uint32_t uid);
/* Adds a copy of the code, for the user. When the memory is full, other code is evicted first
 * (cache_share.h); code larger than an eighth of it is not added. */
void code_cache_put(const unsigned char *text, size_t size, const void *code, size_t code_size,
                    uint32_t uid);

#endif
