/*
 * launch_range.h - finds out which launch of a session has noted a fault of its own (fault_note.h).
 *
 * A kernel that traps, fails an assertion or strays (accesses memory outside its window) notes that
 * without its launch's number, which no kernel knows: a parameter with the number would have to be
 * set for each launch. The worker looks for the note before it issues more of the session's work.
 * Launches that were complete at a look that found no note have not faulted. So the faulting launch
 * is one of the later ones of that kernel: the only one if the program waits for each launch, and
 * one of a few if it does not. Called by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_LAUNCH_RANGE_H
#define GS_WORKER_SUBMIT_LAUNCH_RANGE_H

#include "worker/session_parts.h"

/* Notes that a record of the stream was taken: a launch of this kernel or, if `kernel` is NULL, a
 * graph, whose kernels have no numbers. */
void launch_range_taken(struct session *session, uint32_t index, struct kernel *kernel);
/* Reads which launches are complete. Called before a look at the fault notes. */
void launch_ranges_read(struct session *session);
/* Marks the launches that were complete at launch_ranges_read as not faulted. Called after a look
 * that has found no note. */
void launch_ranges_clean(struct session *session);
/* Does both, with the look at the notes in between. Called before a drain takes more of a ring,
 * whose tenant may have waited for work issued before. Returns false if there is a note that
 * kernel_fault_poll has not seen yet: no more work may be issued before it has. Only for a session
 * with fault notes. */
bool launch_ranges_look(struct session *session);
/* Extends the range by the launches of the kernel (NULL: of all kernels) that may have faulted.
 * *range is all zero before the first call. If such launches are in several streams, the range
 * names none. */
void launch_range_add(const struct session *session, const struct kernel *kernel,
                      struct launch_range *range);

#endif
