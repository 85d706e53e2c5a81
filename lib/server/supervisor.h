/*
 * supervisor.h - the supervisor as a whole: one thread, one epoll loop, no CUDA; it never blocks
 * once it is ready.
 *
 * Its folders, each of which calls those below it only:
 *
 *   (here)       options.c: the command line; main.c: background start; keeper.c: the process that
 *                outlives the supervisor; upgrade.c: the keeper becomes the program installed now;
 *                metrics_process.c: the process beside it that serves metrics; supervisor.c: start,
 *                rounds, phases, end; restore.c: start in the place of one that was killed;
 *                policy_file.c: the policy file; log_file.c, signals.c, mps_variables.c
 *   control/     requests from the control queue: attach, QoS, status, operators' changes
 *   workers/     a device's worker processes, what they say, and whether they answer
 *   reconcile/   plan, policy, send, settle: brings workers to what is wanted
 *   session/     a session's life: its segment, its client, its requests, its end
 *   link/        messages to and from a worker
 *   state/       what is known and wanted: sessions, grants, settings, devices, users' accounts,
 *                state file and policy file
 *   placer/      which SMs each session gets: pure
 *   base/        the loop, reply queues, the vault, the pool of segments, the status page: nothing
 *                of sessions
 *
 * A round. The loop hands one event to its callback (a request, a worker's message, a client's end,
 * a timer). The callback changes `struct server` and notes which steps are due on a device; if a
 * client or operator waits for a verdict, it plans at once, on a candidate. Then reconcile() takes
 * the due steps, and the phase advances. So no folder calls one above it.
 *
 * An attach. control/control.c checks the message and opens the reply queue; attach.c admits it and
 * makes the session (WAITING), its segment and the watch on its client, and plans; a session for
 * which there is no place is refused. At the end of the round send.c sends LINK_OPEN, or, while
 * others still run on these SMs, makes the session wait, and settle.c refuses the attach if that
 * takes too long. LINK_OPENED comes in workers/messages.c; session/open.c fills in the segment and
 * answers. The client's CTL_CONFIRM goes to session/liveness.c.
 *
 * A detach. session/close.c sends LINK_CLOSE; after LINK_CLOSED the segment goes to the device's
 * pool (base/segment_pool.h), and the worker keeps it mapped and registered for the next attach of
 * that user. LINK_SEGMENT_DROP tells the worker of each segment that will not be used again. The
 * loss of a worker empties the pool.
 *
 * An operator's change. control/operator.c checks it completely (operator_check.c), changes the
 * settings, and plans all devices. If one has no room, it changes the settings back, and nothing
 * else has happened. Otherwise it hands the settings to the state file's thread and the reply to
 * reconcile/changes.c, which answers when every session has its grant and the file is written.
 *
 * Invariants.
 *   - Only reconcile/ sends LINK_OPEN, LINK_GRANT and LINK_POLICY; a session's target
 *     changes only by a plan into which every session of the device fits.
 *   - Two sessions may never run on SMs that are one's alone: a grant is sent when nobody else
 *     holds its SMs (grants.h), and what is sent counts as held until it is confirmed.
 *   - Who waits is answered once, and in time: attaches and QoS requests by settle.c, operators by
 *     changes.c; a session that ends answers for itself.
 *   - Messages from queues and from workers are checked field by field before they are used. What
 *     tenants write into their segments is read only to tell what was dropped at a session's end
 *     (common/unfinished.h), and nothing of it is believed.
 */
#ifndef GS_SERVER_SUPERVISOR_H
#define GS_SERVER_SUPERVISOR_H

#include "server/state/server.h"

struct server_memory;

/* Prepares the server in the keeper, before there is a supervisor. server_run calls on_ready when
 * the server begins to serve. Like server_init, returns false and fills server->failure on
 * failure. */
bool server_prepare(struct server *server, const struct server_options *options,
                    void (*on_ready)(struct server *server));
/* Initialises a supervisor; `again`: in the place of one that was killed. */
bool server_init(struct server_memory *memory, bool again);
/* Runs the server until its end. Returns false if it fails; server->failure then has the reason. */
bool server_run(struct server *server);
void server_deinit(struct server *server);

#endif
