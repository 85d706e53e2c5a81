/*
 * segment.h - the supervisor's side of a session's segment: makes it or takes it from the pool,
 * fills it in for the client, and writes into it how the session ends.
 *
 * Trust: the tenant can write all of the segment. The supervisor reads only the state word, by
 * compare and swap, and, when it ends a session, the rings, which unfinished_tell checks.
 */
#ifndef GS_SERVER_SEGMENT_H
#define GS_SERVER_SEGMENT_H

#include "server/state/device.h"
#include "server/state/session.h"

/* Takes a segment of the session's user and device from the pool, or makes one that the user owns.
 * Returns 0 or -errno. */
int session_segment_init(struct session *session);
/* Describes the session that the worker has opened, and publishes that it is open. */
void session_segment_fill(struct session *session);
/* Maps the segment that a former supervisor had mapped. Returns 0 or -errno. */
int session_segment_restore(struct session *session);
/* Returns the fault that the session is told after the loss of its worker. `fatal`: the worker's
 * LINK_FATAL, which is about the device's culprit, or NULL. */
struct seg_fault session_verdict(const struct session *session, const struct link_fatal *fatal,
                                 const char *why);
/* Writes that fault into the session's segment. */
void session_segment_fault(struct session *session, const struct link_fatal *fatal,
                           const char *why);
/* Tells the client that the session is being ended, and why. */
void session_segment_end(struct session *session, const char *why);
/* Tells the device's worker that no session will be opened with the segment again. */
void session_segment_drop(struct device *device, int id);
/* Returns whether the segment says that the session is open, without a fault. */
bool session_segment_open(const struct session *session);
/* Tells the client that the session has ended, and gives the segment to the device's pool if the
 * worker keeps it; otherwise detaches it. */
void session_segment_deinit(struct session *session);

#endif
