/* signals.h - the signals that the supervisor answers: SIGHUP reopens the log and reads the policy
 * file again, SIGTERM and SIGINT end the server, KEEPER_GONE tells that the keeper was killed. */
#ifndef GS_SERVER_SIGNALS_H
#define GS_SERVER_SIGNALS_H

#include "server/state/server.h"

/* Has the server's loop get the signals. 0 or -errno. */
int signals_init(struct server *server);

#endif
