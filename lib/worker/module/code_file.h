/*
 * code_file.h - code files: one text and its machine code as a file. The file says what it was made
 * for and holds the whole text, so two texts with the same file name do no harm. It has a checksum,
 * which shows damage by a full disk, a crash or an accident; it does not prove who wrote the file,
 * for which see code_store.h. The file's users stand in it, too; they are changed in place and not
 * checked: damage to them only changes when the file is evicted. Pure functions of a descriptor;
 * any thread.
 */
#ifndef GS_WORKER_MODULE_CODE_FILE_H
#define GS_WORKER_MODULE_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/module/cache_share.h"

#define CODE_NAME_MAX 33 /* 32 hexadecimal digits and a NUL */
#define CODE_MADE_FOR 128

/* Makes the name of the file for this text on this device and driver. */
void code_file_name(char name[CODE_NAME_MAX], const char *made_for, const void *text, size_t size);
/* Makes a memfd with the content of the file. -1, and errno. */
int code_file_make(const char *made_for, const void *text, size_t size, const void *code,
                   size_t code_size);
/* Returns a copy of the code, which the caller frees; NULL: the file is of another text, or
 * damaged. */
unsigned char *code_file_read(int fd, const char *made_for, const void *text, size_t size,
                              size_t *code_size);
/* Reads the users of the file. false: it is no code file. */
bool code_file_share(int fd, struct cache_share *share);
/* Changes the users of the file; a failure is ignored. */
void code_file_set_share(int fd, const struct cache_share *share);

#endif
