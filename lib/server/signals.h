/* signals.h - the signals that the supervisor answers: SIGHUP reopens the log and reads the policy
 * file again, SIGTERM and SIGINT end the server, and KEEPER_GONE says that the keeper was
 * killed. */
#ifndef GS_SERVER_SIGNALS_H
#define GS_SERVER_SIGNALS_H

#include "server/state/server.h"

/* Blocks the signals and adds them to the server's loop. Returns 0 or -errno. */
int signals_init(struct server *server);

#endif
