/*
 * code_disk.h - the process that keeps machine code on disk for the worker, and the worker's end of
 * it.
 *
 * The worker becomes a user who cannot write the server's directory, so a child that it makes
 * before that keeps the server's user, and nothing else: no capability, no descriptor but its
 * socket and the directory. The two exchange descriptors of memory, so the disk is waited for by
 * the child alone, and a request of the worker's ends in time whatever the disk does. The child
 * ends with the worker, whose socket it reads.
 */
#ifndef GS_WORKER_MODULE_CODE_DISK_H
#define GS_WORKER_MODULE_CODE_DISK_H

#include <stddef.h>
#include <stdint.h>

/* Starts the child for the directory. Before the worker has descriptors of its own, threads, or
 * another user than the server's; what cannot be done is logged, and nothing will be kept. */
void code_disk_start(const char *path);
/* Returns a copy of the code for the text, to be freed, and notes that the user uses it; NULL:
 * there is none. Service threads. */
unsigned char *code_disk_find(const char *made_for, const void *text, size_t size,
                              size_t *code_size, uint32_t uid);
/* Hands a copy to the child, for the user. Service threads. */
void code_disk_put(const char *made_for, const void *text, size_t size, const void *code,
                   size_t code_size, uint32_t uid);

#endif
