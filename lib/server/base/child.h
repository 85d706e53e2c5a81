/*
 * child.h - worker processes, each with its pidfd and the socket to it. A former supervisor, whose
 * place this one has taken, may have started some; the keeper reaps those, and reports how they
 * ended (orphans.h).
 */
#ifndef GS_SERVER_CHILD_H
#define GS_SERVER_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/link.h"
#include "server/base/loop.h"
#include "server/base/orphans.h"

/* One process. Its descriptors may be open and not watched yet, if the process has just been
 * started or comes from another supervisor. */
struct child {
    pid_t pid;               /* 0: none */
    struct watch process;    /* its pidfd */
    struct watch link;       /* our end of the socketpair */
    bool said_ready;         /* it has sent a LINK_READY, ... */
    struct link_device said; /* ... with this content */
    uint64_t ended_ns;       /* when the end of a process that the keeper reaps was first seen;
                                or 0 */
};
#define CHILD_NONE                                                                                 \
    {                                                                                              \
        .process.fd = -1, .link.fd = -1                                                            \
    }

#define CHILD_STATUS_UNKNOWN (-1)

/* Watches the open descriptors. Returns 0 or -errno, in which case some may be watched. */
int child_watch(struct loop *loop, struct child *child, watch_ready *on_link,
                watch_ready *on_process);
/* Moves the process and its watches to another struct, which has no process. */
void child_move(struct loop *loop, struct child *from, struct child *to, watch_ready *on_link,
                watch_ready *on_process);
/* Closes the socket, if it is open. */
void child_link_close(struct loop *loop, struct child *child);
/* Closes the descriptors and forgets the process, without ending it. Does nothing without a
 * process. */
void child_close(struct loop *loop, struct child *child);

/* Sends a signal. Does nothing if the process has ended, or if there is none. */
void child_signal(const struct child *child, int signal);
/* Returns whether the process has ended; it has still to be reaped then (reaper.h). Sets *status as
 * waitpid does. The status of a process that the keeper reaps comes from `orphans`, or is
 * CHILD_STATUS_UNKNOWN if the keeper does not note it in time. */
bool child_ended(struct child *child, struct orphans *orphans, int *status);
/* Returns the status that waitpid would give. */
int child_status(const siginfo_t *info);
/* Kills the process, waits for its end and closes the descriptors. Does nothing without a
 * process. */
void child_end(struct loop *loop, struct child *child);

#endif
