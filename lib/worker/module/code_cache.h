/*
 * code_cache.h - machine code that the driver has made of PTX, kept for whoever loads the same text
 * again: another tenant, or this one's next worker. A fenced kernel's text is the same for all
 * tenants (ptx/rewrite), and compiling it takes the driver milliseconds to seconds.
 *
 * The memory is a memfd of the supervisor's that all workers of the device map, one after the
 * other; what it lacks may be on disk, from a former server (code_disk.h). What is found has the
 * same text byte by byte, so no tenant can put code in another's place; that a load is quick tells
 * that somebody has loaded this text before (doc/isolation.md). Any thread.
 */
#ifndef GS_WORKER_MODULE_CODE_CACHE_H
#define GS_WORKER_MODULE_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/link.h"

/* Maps the memory, whose code was made for this device, driver and ptxas, or else is dropped.
 * false: nothing will be kept or found. Once, when no former worker of the device runs any more,
 * and before service threads do. */
bool code_cache_open(int fd, const struct link_device *info);
/* Returns a copy of the code for the text, to be freed, and its size; NULL: there is none. May wait
 * for the disk, two seconds at most. */
unsigned char *code_cache_find(const unsigned char *text, size_t size, size_t *code_size,
                               uint32_t uid);
/* Keeps a copy, for the user. When the memory is full other code goes first (cache_share.h); what
 * is larger than an eighth of it is not kept. */
void code_cache_put(const unsigned char *text, size_t size, const void *code, size_t code_size,
                    uint32_t uid);

#endif
