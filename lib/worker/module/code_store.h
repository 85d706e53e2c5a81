/*
 * code_store.h - the directory in which code files (code_file.h) outlive the server. Only the
 * server's own user may be able to write it, since the code in it runs for all tenants: a directory
 * or a file that belongs to another user, or that others can write, is not used.
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
/* The least size that a file counts as, so that there are not too many files to look through. */
#define CODE_STORE_LEAST (UINT64_C(64) << 10)

/* Opens the directory, after making it where it is missing (and its parent). -1, with a text. */
int code_store_open(const char *path, char *why, size_t size);
/* Returns whether code_file_name makes such a name. */
bool code_store_is_name(const char *name);
/* Returns a memfd with the content of the file, and notes that the user has used it. -1: there is
 * no such file, or it is not the server's user's alone. */
int code_store_read(int directory, const char *name, uint32_t uid);
/* Writes the content of the descriptor to a file of that name, for the user, in place of a former
 * one. The file is there whole or not at all. false: the disk did not take it. */
bool code_store_write(int directory, const char *name, int from, uint32_t uid);
/* If the files exceed the limit, removes files until three quarters of it are left: of the users
 * that have most, those that they used longest ago (cache_share.h). Also removes half-written files
 * of processes that were killed. */
void code_store_trim(int directory, uint64_t limit);

#endif
