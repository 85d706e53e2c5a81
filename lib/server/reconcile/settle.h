/*
 * settle.h - answers the clients that wait for a session's grant: one that asked for another
 * quality of service, and one whose attach waits for SMs. Each is answered when the grant is in
 * force, when it turns out to be impossible, or when the time is over.
 */
#ifndef GS_SERVER_SETTLE_H
#define GS_SERVER_SETTLE_H

#include "server/state/session.h"

/* Answers the waiting clients that can be answered, and begins their next requests. */
void settle_device(struct device *device);
/* Plans the session's next request, if none is in progress. If that is refused at once, the next
 * one follows. */
void settle_begin(struct session *session);
/* Starts the time limit of a session that cannot be opened yet, because its SMs are not free. */
void settle_await(struct session *session);
/* Sets the time by which the attach must be answered: the client waits for patience_ns from now on;
 * 0: without limit. Shortly before that time it is told why it has no session: by the worker, which
 * knows best, or else by the supervisor. */
void settle_attach_by(struct session *session, uint64_t patience_ns);
/* Sets the timer for the time that a former supervisor has set. */
void settle_attach_restore(struct session *session);

#endif
