/*
 * reaper.h - takes processes of workers that have ended out of the kernel's table, some time after
 * their status was asked for. A worker's end is told while its last thread is still leaving its
 * folder in /proc, and to reap the process is to wait for that thread awake, within the kernel:
 * with few processors and much to do for them that took the supervisor seconds, in which nobody was
 * served (measurements.md, "A lost worker"). Then removes the segments that such a process made and
 * had not marked for removal (leftovers.h). The supervisor's thread.
 */
#ifndef GS_SERVER_REAPER_H
#define GS_SERVER_REAPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "server/base/child.h"
#include "server/base/loop.h"

#define REAPER_MOST 32

/* All zero: there is nothing to be reaped. */
struct reaper {
    struct timer timer;
    pid_t pid[REAPER_MOST]; /* children that have ended */
    unsigned count;
    struct orphans orphans;
};

/* Whether the process has ended. If so, it is reaped later, and *status is as waitpid's, or
 * CHILD_STATUS_UNKNOWN. */
bool reaper_ended(struct reaper *reaper, struct loop *loop, struct child *child, int *status);
/* In the place of a supervisor that was killed: the keeper reaps what was to be reaped. */
void reaper_restore(struct reaper *reaper);
/* Reaps what is left, and removes the segments that ended children have left. */
void reaper_deinit(struct reaper *reaper, struct loop *loop);

#endif
