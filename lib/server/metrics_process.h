/*
 * metrics_process.h - `gshared --metrics`: the processes that serve metrics beside the server.
 *
 * The supervisor never blocks and opens no socket, and libmicrohttpd is not linked to it. So the
 * keeper has a second child, the watcher, which runs `gsctl metrics --listen` (the gsctl beside
 * this executable). Of the server's descriptors the watcher has only the log, and gsctl none:
 * gsctl's messages go through a pipe to the watcher, which logs them. Both survive when a
 * supervisor is killed and replaced. gsctl dies with the watcher (PR_SET_PDEATHSIG) and the watcher
 * with the keeper, however these end. The watcher restarts a gsctl that ends too early, and the
 * keeper restarts the watcher.
 */
#ifndef GS_SERVER_METRICS_PROCESS_H
#define GS_SERVER_METRICS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define METRICS_ERROR_MAX 256

struct server_options;

/* The state of the watcher, in the memory that the keeper shares with the supervisor. Only the
 * keeper writes it. */
struct metrics_process {
    _Atomic pid_t pid; /* the pid of the watcher and of its process group; 0: none */
    uint64_t started_ns;
};

/* Starts the watcher if an address is configured, and waits until gsctl serves. Returns false with
 * the reason in `error`. Called by the keeper while there is no supervisor. */
bool metrics_process_begin(struct metrics_process *metrics, const struct server_options *options,
                           char error[METRICS_ERROR_MAX]);
/* Replaces the watcher after this program has taken another's place. Does not wait for gsctl. */
void metrics_process_restart(struct metrics_process *metrics, const struct server_options *options);
/* Starts another watcher if `pid`, which the keeper has reaped, is the watcher's. */
void metrics_process_reaped(struct metrics_process *metrics, const struct server_options *options,
                            pid_t pid);
/* Tells the watcher to reopen the log file. */
void metrics_process_hangup(const struct metrics_process *metrics);
/* Kills watcher and gsctl, and waits for the end of both. Called by the keeper. */
void metrics_process_stop(struct metrics_process *metrics);
/* Waits, for a second at most, until the keeper, which sees by the server's phase that the server
 * ends, has called metrics_process_stop, so that another server of the name can have the port.
 * Called by the supervisor. */
void metrics_process_await_stop(const struct metrics_process *metrics);

#endif
