/* session_make.h - makes and frees a session with all its parts. Any thread. */
#ifndef GS_CLIENT_SESSION_MAKE_H
#define GS_CLIENT_SESSION_MAKE_H

#include "client/session/session.h"

/* Makes a session with nothing attached to it, in a slot of the table but not published.
 * GS_ERR_LIMIT, GS_ERR_NO_MEMORY. */
gs_status session_new(struct session **session);
/* Unmaps, closes and frees everything that the session has, and gives its slot back. The session
 * was never published, or has been withdrawn. NULL does nothing. */
void session_free(struct session *session);

#endif
