/*
 * peer_ask.h - asks the supervisor for an export of another device, and waits for the answer: the
 * owner's worker is asked meanwhile, and may just be replaced by another.
 */
#ifndef GS_WORKER_MEMORY_PEER_ASK_H
#define GS_WORKER_MEMORY_PEER_ASK_H

#include "worker/jobs/job.h"

struct peer_answer {
    struct link_peer_told told;
    int descriptor; /* of the memory */
};

/* Asks for the export whose handle is in the job's arguments. The caller closes the descriptor. On
 * failure the job has failed. A patient service thread. */
gs_status peer_ask(struct job *job, struct peer_answer *answer);
/* LINK_PEER_IMPORTED. Takes the descriptor over, which may be -1. Control thread. */
void peer_answered(const struct link_message *message, int descriptor);
/* Asks once more for all that has no answer: a killed supervisor may have been asked. Control
 * thread. */
void peer_ask_again(void);

#endif
