/*
 * segment.h - the supervisor's side of a session's segment: made or taken from the pool, filled in
 * for the client, and told how the session ends.
 *
 * Trust: the tenant can write all of it. The supervisor reads the state word, and swaps it; and,
 * where a session is ended, the rings, of which unfinished_tell believes nothing.
 */
#ifndef GS_SERVER_SEGMENT_H
#define GS_SERVER_SEGMENT_H

#include "server/state/device.h"
#include "server/state/session.h"

/* Takes a segment of the session's user and device from the pool, or makes one, which the user is
 * to own. 0 or -errno. */
int session_segment_init(struct session *session);
/* Describes the session that the worker has opened, and publishes that it is open. */
void session_segment_fill(struct session *session);
/* Maps the segment that a former supervisor had mapped. 0 or -errno. */
int session_segment_restore(struct session *session);
/* What the session is told where its worker is gone. fatal: the worker's last words,
 * which are about the device's culprit, or NULL. */
struct seg_fault session_verdict(const struct session *session, const struct link_fatal *fatal,
                                 const char *why);
/* Tells the session its verdict. */
void session_segment_fault(struct session *session, const struct link_fatal *fatal,
                           const char *why);
/* Tells the client that the session is being ended, and why. */
void session_segment_end(struct session *session, const char *why);
/* Tells the device's worker that no session will be opened with the segment again. */
void session_segment_drop(struct device *device, int id);
/* Whether the session has no fault of its own, as the segment says. */
bool session_segment_open(const struct session *session);
/* Tells the client that the session has ended, and gives the segment up: to the device's pool if
 * the worker keeps it. */
void session_segment_deinit(struct session *session);

#endif
