/*
 * code_file.h - one text and its machine code as a file. The file says what it was made for and
 * holds the whole text, so that a name that two share does no harm, and a checksum, so that what a
 * full disk, a crash or an accident has left of it is recognised. Whoever can write the file can
 * write a right one; see code_store.h. Who uses the file stands in it too, is written in place and
 * is not checked: what a crash leaves of it decides only when the file goes. Pure functions of a
 * descriptor; any thread.
 */
#ifndef GS_WORKER_MODULE_CODE_FILE_H
#define GS_WORKER_MODULE_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/module/cache_share.h"

#define CODE_NAME_MAX 33 /* 32 hexadecimal digits and a NUL */
#define CODE_MADE_FOR 128

/* The name of the file for this text on this device and driver. */
void code_file_name(char name[CODE_NAME_MAX], const char *made_for, const void *text, size_t size);
/* Makes a memfd of it. -1, and errno. */
int code_file_make(const char *made_for, const void *text, size_t size, const void *code,
                   size_t code_size);
/* Returns a copy of the code, to be freed; NULL: the file is another's, or damaged. */
unsigned char *code_file_read(int fd, const char *made_for, const void *text, size_t size,
                              size_t *code_size);
/* Who uses what the file holds. false: it is no such file. */
bool code_file_share(int fd, struct cache_share *share);
/* Sets it; a failure is not told. */
void code_file_set_share(int fd, const struct cache_share *share);

#endif
