/*
 * log_file.h - the server's log file: finds its default path, opens it, and redirects this
 * process's output to it. common/log.h writes the lines.
 */
#ifndef GS_SERVER_LOG_FILE_H
#define GS_SERVER_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the name of the log file of a server in the background: INSTANCE.log in /var/log/gshare
 * for root, in $XDG_STATE_HOME/gshare or ~/.local/state/gshare for a user. Makes the folder if it
 * is missing. A file that has grown large is renamed to INSTANCE.log.1, replacing an earlier one.
 * Returns false if the file cannot be written, or if the user has no such folder, in which case
 * `path` is unchanged. */
bool log_file_default(char *path, size_t size, const char *instance);

/* Opens the file for appending, and makes it if it is missing. Returns a descriptor, or -1 and
 * errno. A signal handler may call this function and log_file_use. */
int log_file_open(const char *path);
/* Redirects standard output and standard error to the file, and closes fd. */
void log_file_use(int fd);

#endif
