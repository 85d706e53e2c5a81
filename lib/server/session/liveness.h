/*
 * liveness.h - finds out whether a session's client still lives.
 *
 * The kernel names the client's process: it holds the record lock on the reply queue, which only
 * the queue's owner can open. A pidfd of that process reports its end at once. If the process is
 * not visible (another PID namespace), the last process that attached the segment may be; otherwise
 * the supervisor checks the segment's count of attachments every 50 ms. Once a second it checks the
 * count of all sessions, since a client may have lost its segment by execve. A count that falls is
 * due to the client only if the worker has shown since that it lives.
 */
#ifndef GS_SERVER_LIVENESS_H
#define GS_SERVER_LIVENESS_H

#include "server/state/session.h"

/* Watches the process that asks, if it is visible. The reply queue is open. Returns false if the
 * process has ended. */
bool liveness_begin(struct session *session);
/* Starts the timer by which the client, whose attach has been answered, must have mapped its
 * segment. */
void liveness_expect(struct session *session);
/* Watches the client of a former supervisor's session, by that supervisor's pidfd. */
void liveness_restore(struct session *session);
/* Handles CTL_CONFIRM, by which the client says that it has mapped its segment. */
void liveness_confirm(struct session *session);

#endif
