/*
 * code_store.h - the directory in which code files (code_file.h) outlive the server. Nobody but the
 * server's own user may write it, since what is read from it runs for all tenants: a directory or a
 * file that is another's, or that others can write, is not used.
 *
 * These functions wait for the disk. They run in a process of their own (code_disk.h).
 */
#ifndef GS_WORKER_MODULE_CODE_STORE_H
#define GS_WORKER_MODULE_CODE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_STORE_BYTES (UINT64_C(1) << 30)  /* of all files */
#define CODE_STORE_FILE  (UINT64_C(34) << 20) /* of one */
/* What a file counts as at least, so that a look through all does not take long. */
#define CODE_STORE_LEAST (UINT64_C(64) << 10)

/* Opens the directory, which is made where there is none (its parent too). -1, with a text. */
int code_store_open(const char *path, char *why, size_t size);
/* Whether it is a name that code_file_name makes. */
bool code_store_is_name(const char *name);
/* Returns a memfd with the file's bytes, and notes that the user has used it. -1: there is none
 * that is to be trusted. */
int code_store_read(int directory, const char *name, uint32_t uid);
/* Copies what the descriptor has into a file of that name, in place of another, for the user. The
 * file is there whole or not at all. false: the disk did not take it. */
bool code_store_write(int directory, const char *name, int from, uint32_t uid);
/* Removes files where the limit was exceeded, until three quarters of it are left: those that the
 * users who have most have used longest ago (cache_share.h). Also removes what a process that was
 * killed has left half written. */
void code_store_trim(int directory, uint64_t limit);

#endif
