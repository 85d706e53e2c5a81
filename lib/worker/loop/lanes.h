/*
 * lanes.h - the side lanes, which issue light work beside the main lane; see lanes.c. Called by the
 * main lane, except where a comment says otherwise.
 */
#ifndef GS_WORKER_LOOP_LANES_H
#define GS_WORKER_LOOP_LANES_H

#include "worker/sched/lane.h"
#include "worker/session_parts.h"

/* Makes the side lanes' contexts: as many as the number of CPUs allows, or as GSHARE_LANES says.
 * That number counts the main lane, so 1 means no side lane. Called at the start, with the context
 * current, before there are tenants: making a green context holds up all launches until every
 * kernel has ended, and side lanes are wanted just when tenants keep the device busy. */
void lanes_init(void);
/* Starts the side lanes' threads. Returns false when a thread could not be made. */
bool lanes_start(void);

/* Raises the priority of the calling thread, a lane's, because tenants wait for it. Does so only
 * where that is permitted (for root) and where there are CPUs to spare: with two CPUs, a busy lane
 * would starve all other threads. Called by any lane. */
void lane_priority_raise(const struct lane *lane);

/* Takes back the sessions that side lanes have returned and, where several tenants keep the main
 * lane busy, gives one away. Called after each round. */
void lanes_share(struct lane *main);
/* Recalls all sessions: while `on` is true, side lanes return theirs and the main lane gives none
 * away. */
void lanes_recall(bool on);
/* Asks for the session back, if a side lane has it. It arrives at a later lanes_share. */
void lanes_recall_session(struct session *session);
/* Returns whether any side lane has sessions. */
bool lanes_any(void);
/* Returns whether a session is on its way back to the main lane. */
bool lanes_returned(void);

/* Wakes all side lanes. Called by any thread. */
void lanes_wake(void);
/* Accounts for the ended work of all lanes, including the main lane, after they have stopped.
 * Called by the control thread. */
void lanes_poll(uint64_t now);
/* Returns the only session whose records a lane was issuing when it stopped; NULL: there is none,
 * or several lanes were issuing. Called by the control thread, after the lanes have stopped. */
const struct session *lanes_draining(void);
/* Returns for how many nanoseconds a lane has been in its present round, the longest of all lanes;
 * 0: all lanes sleep. Only a driver call that does not return makes a round long. Called by any
 * thread. */
uint64_t lanes_stuck_ns(void);
/* Registers the main lane for lanes_poll, lanes_draining and lanes_stuck_ns. Called at the
 * start. */
void lanes_main(struct lane *main);

#endif
