/*
 * policy_file.h - the policy file: read at the start, and again at SIGHUP.
 *
 * A thread of its own reads the file again, because the members of a group may be asked of a
 * network, and the loop never blocks. The loop then puts all of it in force, or nothing. As with
 * gsctl's settings, the limits of open sessions follow at once; a user who is no longer served
 * keeps the open sessions. Three values are fixed at the start: max-tenants, the address of the
 * metrics, and whether others than root are served at all.
 */
#ifndef GS_SERVER_POLICY_FILE_H
#define GS_SERVER_POLICY_FILE_H

#include "server/state/server.h"

/* Reads the file, if the options name one. The command line takes precedence over it. Returns false
 * if the server has failed. */
bool policy_file_init(struct server *server);
/* Begins to read the file again, and reports the result to the log and the service manager. */
void policy_file_reload(struct server *server);
void policy_file_deinit(struct server *server);

#endif
