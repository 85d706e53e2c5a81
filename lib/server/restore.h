/*
 * restore.h - a supervisor takes the place of one that was killed.
 *
 * The memory that supervisors share (keeper.h) has what the killed one knew, as it was at the
 * instruction at which it was killed; the descriptors are open. What belongs to a process (watches,
 * timers, mappings, the heap) is made anew, and the workers say what has become of each session
 * (workers/resync.h). Requests that were not answered are answered, or refused.
 */
#ifndef GS_SERVER_RESTORE_H
#define GS_SERVER_RESTORE_H

#include "server/keeper.h"

/* Forgets sessions that were not made to the end and descriptors that were closed, and closes those
 * that nobody owns any more. Before this process opens any. Both functions say in server.failure
 * what has failed. */
void server_restore_begin(struct kept_server *kept);
/* All else, once there are the loop, the registry and the state file. Waits for each worker's
 * answer, some seconds at most: the one time that a supervisor does. */
void server_restore(struct kept_server *kept);

#endif
