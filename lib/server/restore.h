/*
 * restore.h - a supervisor takes the place of one that was killed.
 *
 * The memory that supervisors share (keeper.h) has the state of the killed supervisor as of the
 * instruction at which it was killed, and its descriptors are open. The new supervisor makes anew
 * all that belongs to a process (watches, timers, mappings, the heap), and the workers report the
 * state of each session (workers/resync.h). It answers or refuses the requests that were not
 * answered.
 */
#ifndef GS_SERVER_RESTORE_H
#define GS_SERVER_RESTORE_H

#include "server/keeper.h"

/* Forgets sessions that were only partly made and descriptors that were closed, and closes
 * descriptors that have no owner any more. Called before this process opens any descriptor. Both
 * functions report a failure in server.failure. */
void server_restore_begin(struct server_memory *memory);
/* Restores the rest, once the loop, the registry and the state file exist. Waits for each worker's
 * answer, a second at most: the only time that a supervisor waits for one. */
void server_restore(struct server_memory *memory);

#endif
