/*
 * log_file.h - the file that a server logs to: where it is by default, opening it, and having this
 * process write to it. The lines themselves are common/log.h's.
 */
#ifndef GS_SERVER_LOG_FILE_H
#define GS_SERVER_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the name of the log file of a server in the background: INSTANCE.log in /var/log/gshare
 * for root, in $XDG_STATE_HOME/gshare or ~/.local/state/gshare for a user. Makes the folder where
 * it is missing. A file that has grown large is renamed to INSTANCE.log.1, in place of an earlier
 * one. false: the file cannot be written, or, with path as it was, the user has no such folder. */
bool log_file_default(char *path, size_t size, const char *instance);

/* Opens the file to append to it, and makes it where it is missing. A descriptor, or -1 and errno.
 * This and log_file_use may be called in a signal's handler. */
int log_file_open(const char *path);
/* Has standard output and standard error go to the file, and closes fd. */
void log_file_use(int fd);

#endif
