/* open.h - the worker has opened a session, or refuses to: its client is answered. */
#ifndef GS_SERVER_OPEN_H
#define GS_SERVER_OPEN_H

#include "server/state/session.h"

/* Takes LINK_OPENED. false: the message makes no sense in this state. */
bool server_session_opened(struct session *session, const struct link_opened *opened,
                           const char *text);
/* Takes LINK_TAKEN_UP, or a LINK_OPENED that was not late: no worker was lost by taking the session
 * up. */
void server_session_taken_up(struct session *session);

#endif
