/*
 * peer_ask.h - asks the supervisor for an export of another device, or for the window of a session
 * there. No thread waits for the answer, because the supervisor has to ask the owner's worker,
 * which may be in the middle of its own replacement.
 */
#ifndef GS_WORKER_MEMORY_PEER_ASK_H
#define GS_WORKER_MEMORY_PEER_ASK_H

#include "worker/jobs/job.h"

/* Asks for the export whose handle is in the job's arguments (LINK_PEER_IMPORT), or for the window
 * of the session that the job's third argument names (LINK_PEER_WINDOW). Called by the work of a
 * JOB_ASKS job. Either the job fails, or its next stage finds the answer in job->peer and closes
 * the descriptor there (-1: no descriptor was left). */
void peer_ask(struct job *job, enum link_op op);
/* Handles a LINK_PEER_IMPORTED message. Takes the descriptor over, which may be -1. Control thread.
 */
void peer_answered(const struct link_message *message, int descriptor);
/* Sends all unanswered questions again, since a supervisor that was killed may have had them.
 * Control thread. */
void peer_ask_again(void);

#endif
