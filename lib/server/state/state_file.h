/*
 * state_file.h - settings and reservations in a file, to be kept over the server's end; and the
 * policy file. The state file, which settings_read.h reads:
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
 */
#ifndef GS_SERVER_STATE_FILE_H
#define GS_SERVER_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "server/state/settings_read.h"

/* A larger file was not written by a server. */
#define STATE_SIZE_MAX (4u << 20)

/* Returns the text, to be freed, and its length. NULL: there is no memory. */
char *state_print(const struct settings *settings, size_t *length);

/* Takes the file for this server alone, by a lock that the kernel lets go of with the process; an
 * empty file is made where there is none. Returns the descriptor that holds it, to be closed at the
 * end; -1: error says why not, and errno is EWOULDBLOCK where another server has it. */
int state_take(const char *path, char error[STATE_ERROR_MAX]);
/* Reads a file that has been taken, whoever owns it. */
bool state_load(struct settings *settings, const char *path, char error[STATE_ERROR_MAX]);
/* Reads a policy file, which nobody but root and this process's user may be able to write. said: of
 * settings_read, for what is wrong in the text. */
bool policy_load(struct settings *settings, struct policy *policy, const char *path,
                 void (*said)(const char *error), char error[STATE_ERROR_MAX]);
/* Replaces the file, which has been taken, as a whole, on the disk too, or not at all; *held
 * becomes the descriptor that holds the new one. Blocks. */
bool state_save(const char *path, int *held, const char *text, size_t length,
                char error[STATE_ERROR_MAX]);

#endif
