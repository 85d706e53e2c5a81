/*
 * trace.h - traces of a device (common/trace.h), one at a time: begins and ends them, and writes
 * the supervisor's events: sessions that attach and detach, grants, lost workers.
 *
 * The server's owner and root see all sessions, any other user only that user's own. A trace is a
 * lease, because a reader can be killed: without a renewal the trace ends, and the worker stops
 * writing.
 */
#ifndef GS_SERVER_SESSION_TRACE_H
#define GS_SERVER_SESSION_TRACE_H

#include "server/base/refusal.h"
#include "server/state/device.h"
#include "server/state/session.h"

/* Begins a trace for the asker's user, and sets *id to its segment. An owner's trace replaces
 * another user's. Returns GS_OK, or a status with a text. */
gs_status device_trace_begin(struct device *device, const struct reply *by, int32_t *id,
                             char text[REFUSAL_TEXT_MAX]);
/* Renew the lease of the user's trace with this segment, or end the trace. Return false if it has
 * ended already. */
bool device_trace_keep(struct device *device, uid_t uid, int32_t id);
bool device_trace_finish(struct device *device, uid_t uid, int32_t id);
/* Ends the device's trace. Does nothing if there is none. */
void device_trace_end(struct device *device);

/* The functions below do nothing without a trace. */

/* Continues the trace of a former supervisor. */
void device_trace_restore(struct device *device);
/* Tells a worker that has become ready to continue the trace. */
void device_trace_tell(struct device *device);
/* Records an event of a session. `kind` is TRACE_ATTACHED, TRACE_DETACHED or TRACE_GRANTED. */
void device_trace_session(const struct session *session, enum trace_kind kind);
/* Records that the worker is lost, and which session is to blame. */
void device_trace_lost(const struct device *device);
/* Records that the next worker has taken the sessions over. */
void device_trace_taken_over(const struct device *device);

#endif
