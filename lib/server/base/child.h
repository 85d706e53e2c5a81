/*
 * child.h - processes of workers, each by its pidfd, with the socket to it. Some were started by a
 * former supervisor, whose place this one has taken: the keeper reaps those, and tells how they
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

/* The descriptors may be there and not be watched yet: of a process that has just been started, or
 * that another supervisor has left. */
struct child {
    pid_t pid;               /* 0: none */
    struct watch process;    /* its pidfd */
    struct watch link;       /* our end of the socketpair */
    bool said_ready;         /* it has sent a LINK_READY, ... */
    struct link_device said; /* ... with this content */
    uint64_t ended_ns;       /* since when one that the keeper reaps is known to have ended; or 0 */
};
#define CHILD_NONE                                                                                 \
    {                                                                                              \
        .process.fd = -1, .link.fd = -1                                                            \
    }

#define CHILD_STATUS_UNKNOWN (-1)

/* Watches the descriptors that there are. 0 or -errno; then some may be watched. */
int child_watch(struct loop *loop, struct child *child, watch_ready *on_link,
                watch_ready *on_process);
/* Has another struct watch them, in whose place there is no process. */
void child_move(struct loop *loop, struct child *from, struct child *to, watch_ready *on_link,
                watch_ready *on_process);
/* Closes the socket, if it is open. */
void child_link_close(struct loop *loop, struct child *child);
/* Closes the descriptors and forgets the process, which goes on. Harmless on none. */
void child_close(struct loop *loop, struct child *child);

/* Sends a signal. Harmless on a process that has ended, and on none. */
void child_signal(const struct child *child, int signal);
/* Whether the process has ended, which is yet to be reaped then (reaper.h). *status: as waitpid's.
 * Of a process that is not this one's to reap it is among the orphans' ends, or
 * CHILD_STATUS_UNKNOWN if that was not told in time. */
bool child_ended(struct child *child, struct orphans *orphans, int *status);
/* The status that waitpid would give. */
int child_status(const siginfo_t *info);
/* Kills the process, waits for its end and closes the descriptors. Harmless on none. */
void child_end(struct loop *loop, struct child *child);

#endif
