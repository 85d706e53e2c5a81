/* control.h - the control thread's loop; see control.c. Called by the control thread. */
#ifndef GS_WORKER_LOOP_CONTROL_H
#define GS_WORKER_LOOP_CONTROL_H

struct link_stats;

/* Carries out the supervisor's messages, until the link ends or a message ends the worker. stats:
 * LINK_SLOTS_MAX of them, shared with the supervisor. Returns the worker's exit status. */
int control_run(struct link_stats *stats);

#endif
