/*
 * code_disk.h - a child process that keeps machine code on disk for the worker, and the worker's
 * side of it.
 *
 * The worker changes to a user who cannot write the server's directory, so a child that it starts
 * before that keeps the server's user, and nothing else: no capability, and no descriptor but its
 * socket and the directory. The two exchange descriptors of memfds. Only the child waits for the
 * disk, so a request of the worker's ends in time whatever the disk does. The child ends with the
 * worker, whose socket it reads.
 */
#ifndef GS_WORKER_MODULE_CODE_DISK_H
#define GS_WORKER_MODULE_CODE_DISK_H

#include <stddef.h>
#include <stdint.h>

/* Starts the child for the directory. Called before the worker has descriptors of its own, threads,
 * or another user than the server's. A failure is logged, and no code is kept on disk. */
void code_disk_start(const char *path);
/* Returns a copy of the code for the text, which the caller frees, and notes that the user uses it;
 * NULL: there is none. Service threads. */
unsigned char *code_disk_find(const char *made_for, const void *text, size_t size,
                              size_t *code_size, uint32_t uid);
/* Hands a copy of the code to the child, which keeps it for the user. Service threads. */
void code_disk_put(const char *made_for, const void *text, size_t size, const void *code,
                   size_t code_size, uint32_t uid);

#endif
