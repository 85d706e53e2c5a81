/*
 * trace.h - one trace of a device at a time (common/trace.h): who looks at what the device does,
 * and what the supervisor itself has to tell: sessions that come and go, grants, lost workers.
 *
 * The server's owner and root see all sessions, any other user sees that user's own. A trace is a
 * lease, because a reader can be killed: without a renewal the trace ends, and the worker writes no
 * more.
 */
#ifndef GS_SERVER_SESSION_TRACE_H
#define GS_SERVER_SESSION_TRACE_H

#include "server/base/refusal.h"
#include "server/state/device.h"
#include "server/state/session.h"

/* Begins a trace for that asker's user; *id: its segment. The owner's trace takes the place of
 * another user's. Else a status and a text. */
gs_status device_trace_begin(struct device *device, const struct reply *by, int32_t *id,
                             char text[REFUSAL_TEXT_MAX]);
/* Renews the lease of the user's trace with this segment, or ends the trace. false: it has ended
 * already. */
bool device_trace_keep(struct device *device, uid_t uid, int32_t id);
bool device_trace_finish(struct device *device, uid_t uid, int32_t id);
/* Ends the device's trace. Harmless if there is none. */
void device_trace_end(struct device *device);

/* The rest costs nothing where there is no trace. */

/* The supervisor has taken its predecessor's place, and goes on with its trace. */
void device_trace_restore(struct device *device);
/* Tells a worker that has become ready to go on with the trace. */
void device_trace_tell(struct device *device);
/* kind: TRACE_ATTACHED, TRACE_DETACHED or TRACE_GRANTED. */
void device_trace_session(const struct session *session, enum trace_kind kind);
/* Records that the worker is lost, and by whom. */
void device_trace_lost(const struct device *device);
/* Records that the next worker has taken the sessions over. */
void device_trace_taken_over(const struct device *device);

#endif
