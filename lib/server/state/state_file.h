/*
 * state_file.h - reads and writes the state file, which keeps settings and reservations beyond the
 * server's end, and reads the policy file. The state file, in the syntax of settings_read.h:
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

/* A larger file cannot be one that a server wrote. */
#define STATE_SIZE_MAX (4u << 20)

/* Returns the file's text, which the caller frees, and its length. NULL: no memory. */
char *state_print(const struct settings *settings, size_t *length);

/* Takes the file for this server alone, by a lock that the kernel drops with the process. Makes an
 * empty file if there is none. Returns the descriptor that holds the lock, which the caller closes
 * at the end; -1: `error` has the reason, and errno is EWOULDBLOCK if another server has the
 * file. */
int state_take(const char *path, char error[STATE_ERROR_MAX]);
/* Reads a file that has been taken, whichever user owns it. */
bool state_load(struct settings *settings, const char *path, char error[STATE_ERROR_MAX]);
/* Reads a policy file, which only root and this process's user may have the right to write. `said`
 * is passed to settings_read, for errors in the text. */
bool policy_load(struct settings *settings, struct policy *policy, const char *path,
                 void (*said)(const char *error), char error[STATE_ERROR_MAX]);
/* Replaces the file, which has been taken, atomically and on the disk too; *held becomes the
 * descriptor that holds the lock of the new file. Blocks. */
bool state_save(const char *path, int *held, const char *text, size_t length,
                char error[STATE_ERROR_MAX]);

#endif
