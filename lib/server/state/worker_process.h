/*
 * worker_process.h - the supervisor's state of a device's worker processes. The files of workers/
 * and link/ change it. A device has up to three processes:
 *
 *   worker    serves the sessions
 *   standby   has a context and no sessions, and takes the worker's place when it is lost
 *   former    a worker that has been stopped, because the standby took its place at once, and that
 *             has yet to end
 *
 * While the server serves, every end of a worker, by a fault, a restart or its own exit, goes
 * through worker_lose (ending.c). The worker is then WORKER_ENDING, and is killed or, if a standby
 * is ready and the worker is at rest, stopped. A killed worker's place becomes free when the worker
 * has been reaped; a stopped worker's place at the end of the round, when it becomes the former
 * (worker_keep). Then worker_next (process.c) makes the standby the worker, or starts another one,
 * at once or after a pause.
 *
 * This state outlives a supervisor that is killed. The next one calls worker_restore,
 * standby_restore, former_restore and restart_restore, and asks a ready worker for the state of its
 * sessions (resync.h).
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

/* A worker answers a ping at once. After this time without an answer it counts as silent, and
 * requests that wait for it are told so. */
#define SILENT_NS    500000000u
/* After this time without an answer a worker is ended if the end of a session, a restart or the
 * server's end waits for it. */
#define HUNG_NS      1000000000u
/* Numbers of beats (heartbeat.h) without an answer after which a process is silent, and is ended.
 * Beats are counted instead of time, because a supervisor that was itself stopped misses only
 * one. */
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
    uint32_t pieces;       /* waiting LINK_RESUME_PIECEs, whose number the vault bounds */
};

struct worker_process {
    enum worker_state state;
    struct child child;
    struct outbox outbox;              /* messages that the socket has not taken yet */
    struct link_message inbox;         /* the message being handled; op 0: none */
    struct link_control inbox_control; /* names the descriptor that came with `inbox` */
    struct resync *resync;             /* see workers/resync.h; NULL: none is in progress */
    bool begun;                        /* LINK_BEGIN was sent, and all that goes with it is done */
    uint64_t ready_ns;                 /* when it became ready */
    uint64_t out_of_memory_kills;      /* the machine's count of out-of-memory kills at that time */
    uint64_t pinged_ns;                /* when the unanswered ping was sent; 0: none */
    uint64_t answered_ns;              /* when the last answered ping was sent */
    uint64_t stuck_ns;                 /* from its last answer: how long a lane has been in one
                                          round, in which it waits for the driver alone */
    uint32_t missed;                   /* beats in a row without an answer */
    bool silence_logged;               /* the silence has been logged */
    uint64_t overdue;     /* id of a session whose end is due while the worker does not answer;
                             0: none */
    bool needs_recycling; /* another worker is to replace it when it has no sessions */
    bool stopped;         /* it is ending, and the standby may begin before it has ended */
};

/* A worker that the standby has replaced before its process has ended; see former.h. */
struct former {
    struct child child; /* without its socket */
    struct timer kill_by;
};

/* How far a standby has been told of the sessions that it will take up; see link/preload.h. */
enum preload_phase {
    PRELOAD_NONE = 0,
    PRELOAD_CLEAR = 1, /* the standby is to forget earlier sessions */
    PRELOAD_SENDING = 2,
    PRELOAD_SENT = 3,
    PRELOAD_DONE = 4 /* the standby has answered */
};
struct preload_progress {
    enum preload_phase phase;
    uint32_t slot;    /* slot of the session that is being sent */
    uint64_t address; /* the memory below this address has been sent */
};

/* A worker that waits to replace the device's worker; see standby.h. */
struct standby {
    struct child child;
    bool lost;          /* the process was killed and is not reaped yet */
    uint64_t pinged_ns; /* as in struct worker_process, ... */
    uint32_t missed;    /* ... and so is this */
    struct timer timer; /* starts the standby */
    uint64_t next_ns;   /* the standby is not started before this time */
    struct preload_progress preload;
};

/* The replacement of a worker by another; see restart.h. */
enum restart_phase {
    RESTART_NONE = 0,
    RESTART_STANDBY = 1, /* waits for the standby */
    RESTART_PRELOAD = 2, /* the standby maps what the sessions have */
    RESTART_ASKED = 3,   /* LINK_RETIRE is sent */
    RESTART_NEXT = 4     /* the worker is gone; the next one takes the sessions up */
};
struct restart {
    enum restart_phase phase;
    bool force;
    enum ctl_takeover cause; /* CTL_TAKEOVER_RESTART or CTL_TAKEOVER_RECYCLING */
    pid_t replaced;          /* the worker that is replaced */
    uint32_t sessions;       /* number of sessions that it had when it ended */
    uint64_t retired_ns;
    struct timer patience; /* fires when the worker is checked again */
    uint64_t give_up_ns;
    struct reply reply; /* the operator's; closed: no operator asked */
    uint64_t next_ns;   /* a worker that needs recycling is not replaced before this time */
};

#endif
