/*
 * events.h - a session's events in the log: attached, detached, refused. Each user has so many in a
 * minute (account_event), for a program may attach a thousand times a second, and fewer that are
 * refused (account_log).
 */
#ifndef GS_SERVER_SESSION_EVENTS_H
#define GS_SERVER_SESSION_EVENTS_H

#include "common/log_event.h"
#include "server/state/session.h"

/* "session=... user=... uid=... pid=... name=...". */
void event_session(struct log_event *event, const struct session *session);

/* The attach was answered; with what was granted. */
void session_attached_log(struct session *session);
/* The session ends; with its totals. Nothing of one whose attach was not answered, nor a second
 * time. */
void session_detached_log(struct session *session);
/* Counts an attach that is refused. The two below do so themselves. */
void attach_refused_count(struct server *server, gs_status status);
void session_refused_log(const struct session *session, gs_status status, const char *reason);
/* An attach was refused before there was a session. name: the tenant's own, cleaned. */
void attach_refused_log(struct server *server, const struct reply *reply, const char *name,
                        gs_status status, const char *reason);

#endif
