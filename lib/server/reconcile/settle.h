/*
 * settle.h - those who wait for a session's grant: the client that asked for another quality of
 * service, and the one whose attach waits for SMs. Each is answered when the worker has what was
 * asked for, when it turns out that it cannot, or when the time is over.
 */
#ifndef GS_SERVER_SETTLE_H
#define GS_SERVER_SETTLE_H

#include "server/state/session.h"

/* Answers what can be answered, and goes on to the next requests. */
void settle_device(struct device *device);
/* Plans the session's next request, if none is under way. A request that is refused at once leaves
 * its place to the next. */
void settle_begin(struct session *session);
/* A session that cannot be opened yet, for its SMs are not free, is given some time. */
void settle_await(struct session *session);
/* The client waits for the answer to its attach for patience_ns from now on; 0: without end. Before
 * that it is told why it has no session: by the worker, which knows best, or else by the
 * supervisor. */
void settle_attach_by(struct session *session, uint64_t patience_ns);
/* The same for the time that a former supervisor has set. */
void settle_attach_restore(struct session *session);

#endif
