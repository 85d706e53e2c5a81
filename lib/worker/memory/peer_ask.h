/*
 * peer_ask.h - asks the supervisor for an export of another device, or for the window of a session
 * there. No thread waits for the answer:
 * the owner's worker is asked meanwhile, and may just be replaced by another.
 */
#ifndef GS_WORKER_MEMORY_PEER_ASK_H
#define GS_WORKER_MEMORY_PEER_ASK_H

#include "worker/jobs/job.h"

/* Asks for the export whose handle is in the job's arguments (LINK_PEER_IMPORT), or the window of
 * the session that its third argument names (LINK_PEER_WINDOW). The job comes back with job->peer,
 * whose descriptor its next stage closes (-1: none was left), or has failed. The work of a
 * JOB_ASKS.
 */
void peer_ask(struct job *job, enum link_op op);
/* LINK_PEER_IMPORTED. Takes the descriptor over, which may be -1. Control thread. */
void peer_answered(const struct link_message *message, int descriptor);
/* Asks once more for all that has no answer: a killed supervisor may have been asked. Control
 * thread. */
void peer_ask_again(void);

#endif
