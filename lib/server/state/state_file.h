/*
 * state_file.h - settings and reservations as text, to be kept over the server's end. Pure.
 *
 *     # comment
 *     [default]
 *     percentage = 50
 *     [user 1000]
 *     mem = 8G
 *     [device 0]
 *     latency-sms = 16
 *     [reservation render]
 *     device = 0
 *     sms = 32
 *     [provision]
 *     mode = uniform
 *
 * Strict: an unknown section, name or value, or one given twice, is an error with its line. What
 * the devices cannot honour is not known here.
 */
#ifndef GS_SERVER_STATE_FILE_H
#define GS_SERVER_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "server/state/settings.h"

#define STATE_ERROR_MAX 160u
/* A larger file is none of ours. */
#define STATE_SIZE_MAX  (4u << 20)

/* Fills *settings, which must be zeroed, from a text of `size` bytes. false: error says which line
 * is wrong, and settings hold nothing that needs to be freed. */
bool state_parse(struct settings *settings, const char *text, size_t size,
                 char error[STATE_ERROR_MAX]);
/* Returns the text, to be freed, and its length. NULL: there is no memory. */
char *state_print(const struct settings *settings, size_t *length);

/* Takes the file for this server alone, by a lock that the kernel lets go of with the process; an
 * empty file is made where there is none. Returns the descriptor that holds it, to be closed at the
 * end; -1: error says why not. */
int state_take(const char *path, char error[STATE_ERROR_MAX]);
/* Both with a file that has been taken. */
bool state_load(struct settings *settings, const char *path, char error[STATE_ERROR_MAX]);
/* Replaces the file as a whole, on the disk too, or not at all; *held becomes the descriptor that
 * holds the new one. Blocks. */
bool state_save(const char *path, int *held, const char *text, size_t length,
                char error[STATE_ERROR_MAX]);

#endif
