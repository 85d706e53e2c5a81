/*
 * policy_file.h - the policy file in force: read at the start, and again at SIGHUP. That second
 * reading is a thread's, for the members of a group may be asked of a network, and the loop never
 * blocks; what the file says is put in force by the loop, whole or not at all.
 *
 * What it says holds for sessions that are there too, as gsctl's settings do: limits follow at
 * once, and a user who is no longer served keeps the sessions that are open. Two things are fixed
 * at the start: max-tenants, and whether others than root are served at all.
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
