/*
 * events.h - logs a session's events: attached, detached, refused. Each user has a limited number
 * of lines in a minute (account_event), since a program may attach a thousand times a second, and
 * fewer for refusals (account_log).
 */
#ifndef GS_SERVER_SESSION_EVENTS_H
#define GS_SERVER_SESSION_EVENTS_H

#include "common/log_event.h"
#include "server/state/session.h"

/* Adds "session=... user=... uid=... pid=... name=..." to an event. */
void event_session(struct log_event *event, const struct session *session);

/* Logs that the attach was answered, and the grant. */
void session_attached_log(struct session *session);
/* Logs the end of the session, and its totals. Does nothing if the attach was not answered, or on a
 * second call. */
void session_detached_log(struct session *session);
/* Counts an attach that is refused. The two functions below count too. */
void attach_refused_count(struct server *server, gs_status status);
void session_refused_log(const struct session *session, gs_status status, const char *reason);
/* Logs an attach that was refused before there was a session. `name` is the tenant's, cleaned. */
void attach_refused_log(struct server *server, const struct reply *reply, const char *name,
                        gs_status status, const char *reason);

#endif
