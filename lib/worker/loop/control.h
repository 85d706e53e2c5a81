/* control.h - the control thread's loop; see control.c. Control thread. */
#ifndef GS_WORKER_LOOP_CONTROL_H
#define GS_WORKER_LOOP_CONTROL_H

struct link_stats;

/* Does what the supervisor's messages ask for, until the link ends or the supervisor says so.
 * stats: LINK_SLOTS_MAX of them, shared with the supervisor. Returns the worker's exit status. */
int control_run(struct link_stats *stats);

#endif
