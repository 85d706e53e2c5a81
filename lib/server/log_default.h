/* log_default.h - where a server in the background logs if nobody says so. */
#ifndef GS_SERVER_LOG_DEFAULT_H
#define GS_SERVER_LOG_DEFAULT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the name of the log file: INSTANCE.log in /var/log/gshare for root, in
 * $XDG_STATE_HOME/gshare or ~/.local/state/gshare for a user. Makes the folder where there is none,
 * and gives a file that has become large another name, so that one of former starts is there at
 * most. false: nothing can be written there, or (path is as it was) there is no such place. */
bool log_default(char *path, size_t size, const char *instance);

#endif
