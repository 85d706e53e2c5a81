/*
 * liveness.h - whether a session's client is still there.
 *
 * The kernel knows who asks: the holder of the record lock on the reply queue, which only the
 * queue's owner can open. A pidfd of that process tells its end at once, from the first moment on.
 * Where it cannot be seen (another PID namespace), the last process that attached the segment may
 * be; else the count of attachments is looked at every 50 ms. Once a second all are looked at so,
 * for a client that has lost its segment by execve. A count that falls is the client's only if the
 * worker shows that it lives.
 */
#ifndef GS_SERVER_LIVENESS_H
#define GS_SERVER_LIVENESS_H

#include "server/state/session.h"

/* Watches the process that asks, if it can be seen; the reply queue must be open. false: the
 * process has ended. */
bool liveness_begin(struct session *session);
/* Starts the time in which the client, whose attach has been answered, must map its segment. */
void liveness_expect(struct session *session);
/* Watches the client of a session that a former supervisor has made, by the pidfd of that one. */
void liveness_restore(struct session *session);
/* Notes that the client says that it has mapped its segment. */
void liveness_confirm(struct session *session);

#endif
