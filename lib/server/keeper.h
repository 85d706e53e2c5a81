/*
 * keeper.h - the process that outlives a supervisor, and starts the next one.
 *
 * gshared is two processes: the keeper, which the user has started, and its child, the supervisor.
 * Both use one table of descriptors (CLONE_FILES) and one mapping of memory (struct server_memory).
 * So when the supervisor is killed, its queues, sockets and the vault's descriptors stay open:
 * workers and tenants go on, and the keeper starts another supervisor, which finds everything where
 * it was (restore.h). The keeper closes no descriptor, and reads little of that memory: the phase,
 * the options, and, if no further supervisor can start, what server_kill_all removes.
 *
 * The status page tells clients whether the keeper lives: the server ends with it. With --metrics
 * the keeper has a second child (metrics_process.h).
 */
#ifndef GS_SERVER_KEEPER_H
#define GS_SERVER_KEEPER_H

#include "server/base/descriptor_notes.h"
#include "server/metrics_process.h"
#include "server/state/server.h"
#include "server/state/session.h"

struct server_memory {
    struct server_memory *here; /* its address in the program that wrote it */
    int fd;                     /* the descriptor of this memory */
    struct server server;
    struct metrics_process metrics;
    bool crashed; /* the last supervisor ended by its own fault, not by SIGKILL */
    struct session session[LINK_SLOTS_MAX];
    struct committed committed;
    struct descriptor_notes notes;
};

/* Runs supervisors until one ends by itself, and returns its exit status. `supervise` runs in each
 * supervisor; `again`: in the place of one that was killed. `prepare` runs in the keeper before the
 * first one; if it returns false, no supervisor starts. `fd` is the descriptor of the memory
 * that a former program kept (upgrade.h); -1: none. */
int keeper_run(int fd, bool (*prepare)(struct server_memory *memory),
               int (*supervise)(struct server_memory *memory, bool again));

/* The exit status of a supervisor that could not take its predecessor's place; the keeper then
 * starts the next one. */
#define KEEPER_AGAIN 75

/* The signal by which the supervisor learns that its keeper is gone. */
#define KEEPER_GONE SIGUSR1

#endif
