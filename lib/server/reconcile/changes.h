/*
 * changes.h - answers operators whose changes have been made, but have not reached all workers and
 * the state file yet. All waiting operators are answered together: when all grants are in force and
 * the file is written, when a session keeps its former grant, or after OPERATOR_PATIENCE_NS if a
 * session waits for running kernels to end.
 */
#ifndef GS_SERVER_CHANGES_H
#define GS_SERVER_CHANGES_H

#include "server/state/server.h"

/* So that no command of gsctl takes 2 s without an answer. The time suffices to find that a worker
 * does not answer: a heartbeat, and SILENT_NS. */
#define OPERATOR_PATIENCE_NS 1600000000u

/* Takes the reply over, or answers it at once if too many wait already. `note`: a remark for the
 * answer; "": none. */
void changes_await(struct server *server, struct reply *reply, const char *note);
/* Answers the operators if one of these conditions holds. */
void changes_settle(struct server *server);
/* Continues the waits of operators who asked a former supervisor. */
void changes_restore(struct server *server);
/* Drops all waiting replies, without an answer. */
void changes_deinit(struct server *server);

#endif
