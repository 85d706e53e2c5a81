/*
 * changes.h - operators' changes that have been made, and that the workers or the state file do not
 * have yet. Their operators are answered together: when everything holds, when a session keeps its
 * former grant, or after OPERATOR_PATIENCE_NS where a session waits for running kernels to end.
 */
#ifndef GS_SERVER_CHANGES_H
#define GS_SERVER_CHANGES_H

#include "server/state/server.h"

/* No command of gsctl takes 2 s without a word. It is long enough to learn that a worker does not
 * answer: a heartbeat, and SILENT_NS. */
#define OPERATOR_PATIENCE_NS 1600000000u

/* Takes the reply over, unless too many wait already: then it is answered. note: a remark for the
 * answer; "": none. */
void changes_await(struct server *server, struct reply *reply, const char *note);
/* Answers the operators if what they wait for has come. */
void changes_settle(struct server *server);
/* Operators who wait for a former supervisor's answer get it from this one. */
void changes_restore(struct server *server);
/* Drops all that wait, without an answer. */
void changes_deinit(struct server *server);

#endif
