/*
 * launch_range.h - which launch of a session has noted a fault of its own (fault_note.h).
 *
 * A kernel that traps, asserts or strays notes that without its launch's number, which no kernel
 * knows: a parameter that tells it would be set anew for each launch. The worker looks at the note
 * before it issues more of the session's work. What was complete at a look that found no note has
 * not faulted, so the launch is one of those since, of that kernel: the one launch where a program
 * waits for each, and a few where it does not. The session's lane.
 */
#ifndef GS_WORKER_SUBMIT_LAUNCH_RANGE_H
#define GS_WORKER_SUBMIT_LAUNCH_RANGE_H

#include "worker/session_parts.h"

/* Notes that a record of the stream has been taken: a launch of this kernel, or (NULL) a graph,
 * whose kernels have no numbers. */
void launch_range_taken(struct session *session, uint32_t index, struct kernel *kernel);
/* Notes what is complete. Called before a look at the fault notes. */
void launch_ranges_read(struct session *session);
/* Called after a look that has found no note: what was complete before it has not faulted. */
void launch_ranges_clean(struct session *session);
/* Calls both, with the look between them, before more of a ring is taken: its tenant may have
 * waited for work that was issued before. False: there is a note that kernel_fault_poll has not
 * seen, and no more is issued before it has. Only for a session with fault notes. */
bool launch_ranges_look(struct session *session);
/* Adds to the range those launches of the kernel (NULL: of all kernels) that may have faulted.
 * *range is all zero at first. Where such launches are in several streams, the range names none. */
void launch_range_add(const struct session *session, const struct kernel *kernel,
                      struct launch_range *range);

#endif
