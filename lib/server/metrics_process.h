/*
 * metrics_process.h - `gshared --metrics`: the processes that serve the figures beside the server.
 *
 * The supervisor never blocks and opens no socket, and libmicrohttpd is not linked to it. So the
 * keeper has a second child, the watcher, which runs `gsctl metrics --listen` (the gsctl beside
 * this executable). Of the server's descriptors the watcher has only the log, and gsctl none: what
 * gsctl says goes through a pipe to the watcher, which logs it. Both live on when a supervisor is
 * killed and replaced. gsctl dies with the watcher (PR_SET_PDEATHSIG) and the watcher with the
 * keeper, however these end; what ends too early is started again, gsctl by the watcher, the
 * watcher by the keeper.
 */
#ifndef GS_SERVER_METRICS_PROCESS_H
#define GS_SERVER_METRICS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define METRICS_ERROR_MAX 256

struct server_options;

/* In the memory that the keeper shares with the supervisor. Only the keeper writes it. */
struct metrics_process {
    _Atomic pid_t pid; /* of the watcher, and of its process group; 0: none */
    uint64_t started_ns;
};

/* Starts the watcher where an address is wanted, and waits until gsctl serves. false: the reason is
 * in error. The keeper's, while there is no supervisor. */
bool metrics_process_begin(struct metrics_process *metrics, const struct server_options *options,
                           char error[METRICS_ERROR_MAX]);
/* The same after this program has taken another's place: the old ones go, and nobody waits. */
void metrics_process_restart(struct metrics_process *metrics, const struct server_options *options);
/* The keeper has reaped this process: if it is the watcher, starts another. */
void metrics_process_reaped(struct metrics_process *metrics, const struct server_options *options,
                            pid_t pid);
/* The log file is to be opened anew. */
void metrics_process_hangup(const struct metrics_process *metrics);
/* Kills watcher and gsctl, and waits for the end of both. The keeper's. */
void metrics_process_stop(struct metrics_process *metrics);
/* The supervisor's: waits, a second at most, until the keeper, which sees by the server's phase
 * that it ends, has done that, so that another server of the name can have the port. */
void metrics_process_await_stop(const struct metrics_process *metrics);

#endif
