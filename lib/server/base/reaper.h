/*
 * reaper.h - reaps worker processes some time after they have ended. The kernel reports a worker's
 * end while the worker's last thread is still leaving its folder in /proc, and a call that reaps
 * the process then spins in the kernel until that thread is done. With few and busy processors this
 * took the supervisor seconds, in which nobody was served (measurements.md, "A lost worker"). The
 * reaper also removes the segments that such a process made and had not marked for removal
 * (leftovers.h). The supervisor's thread.
 */
#ifndef GS_SERVER_REAPER_H
#define GS_SERVER_REAPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "server/base/child.h"
#include "server/base/loop.h"

#define REAPER_MOST 32

/* All zero: nothing to reap. */
struct reaper {
    struct timer timer;
    pid_t pid[REAPER_MOST]; /* children that have ended and are not reaped */
    unsigned count;
    struct orphans orphans;
};

/* Returns whether the process has ended. If so, it is reaped later, and *status is set as by
 * waitpid, or to CHILD_STATUS_UNKNOWN. */
bool reaper_ended(struct reaper *reaper, struct loop *loop, struct child *child, int *status);
/* Continues after a supervisor was killed. The keeper reaps the processes that had to be reaped. */
void reaper_restore(struct reaper *reaper);
/* Reaps the remaining children, and removes the segments that ended children have left. */
void reaper_deinit(struct reaper *reaper, struct loop *loop);

#endif
