/*
 * lanes.h - the side lanes, which issue light work beside the main lane; see lanes.c. Main lane,
 * except where a comment says otherwise.
 */
#ifndef GS_WORKER_LOOP_LANES_H
#define GS_WORKER_LOOP_LANES_H

#include "worker/sched/lane.h"
#include "worker/session_parts.h"

/* Makes the contexts of as many lanes as the machine's CPUs are good for, or as GSHARE_LANES says;
 * the number counts the main lane, so 1 means no side lane. Called at the start, with the context
 * current, before there are tenants: making a green context holds all launches up until every
 * kernel has ended, and a side lane is wanted when tenants keep the device busy. */
void lanes_init(void);
/* Starts the side lanes' threads. Returns false when a thread could not be made. */
bool lanes_start(void);

/* Raises the priority of the calling thread, a lane's, because tenants wait for it: where that is
 * permitted (for root), and where there are CPUs to spare, since a busy lane would starve all
 * others on two. Any lane. */
void lane_priority_raise(const struct lane *lane);

/* Takes back the sessions that side lanes have returned and, where several tenants keep the main
 * lane busy, gives one away. Called after each round. */
void lanes_share(struct lane *main);
/* While `on` is true, all sessions are wanted back and none is given away. */
void lanes_recall(bool on);
/* Wants the session back. It is the main lane's already, or comes with a later lanes_share. */
void lanes_recall_session(struct session *session);
/* Whether any side lane has sessions. */
bool lanes_any(void);
/* Whether a session is on its way back to the main lane. */
bool lanes_returned(void);

/* Wakes all side lanes. Any thread. */
void lanes_wake(void);
/* Accounts for the ended work of all lanes, the main lane included, once they have stopped. Control
 * thread. */
void lanes_poll(uint64_t now);
/* The session whose records a lane was issuing when it stopped; NULL: none. Control thread. */
const struct session *lanes_draining(void);
/* How long a lane has been in one round, which ends unless a driver call does not: the longest of
 * all lanes. 0: all sleep. Any thread. */
uint64_t lanes_stuck_ns(void);
/* Notes the main lane for lanes_poll, lanes_draining and lanes_stuck_ns. Called at the start. */
void lanes_main(struct lane *main);

#endif
