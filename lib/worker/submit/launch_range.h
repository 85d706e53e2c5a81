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

/* A record of the stream has been taken: a launch of this kernel, or a graph (NULL), whose kernels
 * have no numbers. */
void launch_range_taken(struct session *session, uint32_t index, struct kernel *kernel);
/* Before a look at the notes: reads what is complete. */
void launch_ranges_read(struct session *session);
/* The look has found none: what was complete has not faulted. */
void launch_ranges_clean(struct session *session);
/* Both at once, between two reads of a ring: what comes there may have waited for what was issued
 * before. false: a note is there that kernel_fault_poll has not seen, before which no more is
 * issued. The session has notes. */
bool launch_ranges_look(struct session *session);
/* Adds the launches of the kernel, NULL: of any, that may have faulted. *range is all zero at
 * first; where there are some in several streams it tells none. */
void launch_range_add(const struct session *session, const struct kernel *kernel,
                      struct launch_range *range);

#endif
