/*
 * worker_process.h - the processes of a device's workers as the supervisor has them. The files of
 * workers/ and link/ change them. A device has up to three:
 *
 *   worker    serves the sessions
 *   standby   has a context and no sessions, and takes the worker's place when it is lost
 *   former    a worker that has been stopped, because the standby took its place at once, and that
 *             has yet to end
 *
 * While the server serves, whatever ends a worker, a fault, a restart or its own exit, goes through
 * worker_lose (ending.c). The worker is WORKER_ENDING then, and killed or, where a standby is ready
 * and the worker at rest, stopped. A killed worker's place is free when it has been reaped, a
 * stopped one's at the end of the round, when it becomes the former (worker_keep). Then worker_next
 * (process.c) makes the standby the worker, or starts another one, at once or after a pause.
 *
 * All of it outlives a supervisor that is killed. The next one calls worker_restore,
 * standby_restore, former_restore and restart_restore, and asks a ready worker what it has
 * (resync.h).
 */
#ifndef GS_SERVER_WORKER_PROCESS_H
#define GS_SERVER_WORKER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/link.h"
#include "common/wire.h"
#include "server/base/child.h"
#include "server/base/loop.h"
#include "server/base/reply.h"

/* A worker answers a ping at once. After this time it is silent: it is what others wait for. */
#define SILENT_NS    500000000u
/* After this time without an answer it is ended where somebody waits for what it was told to do. */
#define HUNG_NS      1000000000u
/* Beats (heartbeat.h) without an answer after which a process is silent, and is ended. Beats are
 * counted, and not time: a supervisor that was stopped itself has missed one. */
#define BEATS_SILENT 3u
#define BEATS_MAX    30u

enum worker_state {
    WORKER_NONE = 0,
    WORKER_STARTING = 1,
    WORKER_READY = 2,
    WORKER_ENDING = 3 /* killed or told to quit; waiting to be reaped */
};

struct outbox_message {
    struct link_message message;
    int descriptor; /* a descriptor to send along; -1: none */
};

struct outbox {
    struct outbox_message *waiting;
    uint32_t first, count; /* the messages from `first` up to `count` wait */
    uint32_t room;         /* messages that the array can hold */
    uint32_t pieces;       /* LINK_RESUME_PIECEs that wait, which the vault bounds */
};

struct worker_process {
    enum worker_state state;
    struct child child;
    struct outbox outbox;              /* messages that the socket has not taken yet */
    struct link_message inbox;         /* the message being dealt with; op 0: none */
    struct link_control inbox_control; /* tells of the descriptor that came with `inbox` */
    struct resync *resync;             /* see workers/resync.h; NULL: none is under way */
    bool begun;                        /* a LINK_BEGIN was sent, and what follows from it done */
    uint64_t ready_ns;                 /* when it became ready */
    uint64_t out_of_memory_kills;      /* as many there had been then */
    uint64_t pinged_ns;                /* when the ping was sent that it has to answer; 0: none */
    uint64_t answered_ns;              /* when the last ping was sent that it has answered */
    uint64_t stuck_ns;                 /* how long a lane of it has been in one round, as its last
                                          answer said; the lane waits for nobody but the driver */
    uint32_t missed;                   /* beats in a row without an answer */
    bool silence_logged;               /* the log has it */
    uint64_t overdue; /* a session whose end is due, while the worker does not answer; 0: none */
    bool needs_recycling; /* another one takes its place when it has no sessions */
    bool stopped;         /* it is ending, and need not end before the standby begins */
};

/* A worker whose place the standby has taken before its process has ended; see former.h. */
struct former {
    struct child child; /* without its socket */
    struct timer kill_by;
};

/* How much a standby has been told of the sessions that it will take up; see link/preload.h. */
enum preload_phase {
    PRELOAD_NONE = 0,
    PRELOAD_CLEAR = 1, /* the standby is to forget earlier sessions */
    PRELOAD_SENDING = 2,
    PRELOAD_SENT = 3,
    PRELOAD_DONE = 4 /* the standby has answered */
};
struct preload_progress {
    enum preload_phase phase;
    uint32_t slot;    /* the session's that is being sent */
    uint64_t address; /* the memory below this address has been sent */
};

/* A worker that waits to take the other's place; see standby.h. */
struct standby {
    struct child child;
    bool lost;          /* the process was killed, and is to be reaped */
    uint64_t pinged_ns; /* as the worker's, ... */
    uint32_t missed;    /* ... and so is this */
    struct timer timer; /* starts the standby */
    uint64_t next_ns;   /* the standby is not started before this time */
    struct preload_progress preload;
};

/* Another worker takes this one's place; see restart.h. */
enum restart_phase {
    RESTART_NONE = 0,
    RESTART_STANDBY = 1, /* waits for the standby */
    RESTART_PRELOAD = 2, /* the standby gets ready for the sessions */
    RESTART_ASKED = 3,   /* LINK_RETIRE is sent */
    RESTART_NEXT = 4     /* the worker is gone; the next one takes the sessions up */
};
struct restart {
    enum restart_phase phase;
    bool force;
    enum ctl_takeover cause; /* CTL_TAKEOVER_RESTART or CTL_TAKEOVER_RECYCLING */
    pid_t replaced;          /* the worker whose place another one takes */
    uint32_t sessions;       /* sessions that it had when it ended */
    uint64_t retired_ns;
    struct timer patience; /* fires when the worker is looked at again */
    uint64_t give_up_ns;
    struct reply reply; /* closed: no operator has asked */
    uint64_t next_ns;   /* a worker that needs recycling is not replaced before that */
};

#endif
