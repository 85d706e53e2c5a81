/* open.h - answers the client when the worker has opened its session, or refuses to. */
#ifndef GS_SERVER_OPEN_H
#define GS_SERVER_OPEN_H

#include "server/state/session.h"

/* Handles LINK_OPENED. Returns false if the message is invalid in this state. */
bool server_session_opened(struct session *session, const struct link_opened *opened,
                           const char *text);
/* Handles LINK_TAKEN_UP, or a LINK_OPENED that was not late: the session has been taken up without
 * the loss of a worker. */
void server_session_taken_up(struct session *session);

#endif
