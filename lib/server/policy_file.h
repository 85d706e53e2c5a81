/*
 * policy_file.h - the policy file: read at the start, and again at SIGHUP.
 *
 * A thread of its own reads the file again, because the members of a group may be asked of a
 * network, and the loop never blocks. The loop then puts all of it in force, or nothing. It holds
 * for open sessions too, as gsctl's settings do: their limits follow at once, while a user who is
 * no longer served keeps them. Three things are fixed at the start: max-tenants, the address of the
 * metrics, and whether others than root are served at all.
 */
#ifndef GS_SERVER_POLICY_FILE_H
#define GS_SERVER_POLICY_FILE_H

#include "server/state/server.h"

/* Reads it, where options name one. The command line goes before it. false: the server has failed.
 */
bool policy_file_init(struct server *server);
/* Begins to read it again; the log and the service manager are told what comes of it. */
void policy_file_reload(struct server *server);
void policy_file_deinit(struct server *server);

#endif
