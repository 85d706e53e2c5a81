/*
 * lanes.h - the dispatch lanes beside the main one; see lanes.c. Main lane, but where it says
 * otherwise.
 */
#ifndef GS_WORKER_LOOP_LANES_H
#define GS_WORKER_LOOP_LANES_H

#include "worker/sched/lane.h"
#include "worker/session_parts.h"

/* Makes the contexts of as many lanes as the machine's CPUs are good for, or as GSHARE_LANES says;
 * one is the main lane alone. At the start, with the context current, before there are tenants. */
void lanes_init(void);
/* Starts their threads. false: a thread could not be made. */
bool lanes_start(void);

/* Takes back the sessions that the lanes have returned, and, where several tenants keep the main
 * lane busy, gives some away. After each round. */
void lanes_share(struct lane *main);
/* While true: all sessions are wanted back, and none is given away. */
void lanes_recall(bool on);
/* The session is wanted back. It is the main lane's already, or comes with a later lanes_share. */
void lanes_recall_session(struct session *session);
/* Does any lane beside the main one have sessions? */
bool lanes_any(void);
/* Is the session with another lane? Then all of it that is a lane's is not to be touched. */
static inline bool lanes_has(const struct session *session)
{
    return session->elsewhere;
}

/* Wakes all lanes. Any thread. */
void lanes_wake(void);
/* Sees what has ended of all of them, once they have stopped. Control thread. */
void lanes_poll(uint64_t now);
/* Whose records were being issued when they stopped; NULL: nobody's. Control thread. */
const struct session *lanes_draining(void);
/* The main lane, for these two. At the start. */
void lanes_main(struct lane *main);

#endif
