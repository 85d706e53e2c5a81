/* process.c - see process.h. */
#include "server/workers/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/out_of_memory.h"
#include "server/link/worker_link.h"
#include "server/session/close.h"
#include "server/state/server.h"
#include "server/state/session.h"
#include "server/workers/ending.h"
#include "server/workers/former.h"
#include "server/workers/messages.h"
#include "server/workers/resync.h"
#include "server/workers/spawn.h"
#include "server/workers/standby.h"
#include "server/workers/suspects.h"

#define START_NS       60000000000u /* a driver's first initialisation can take long */
#define RESTART_MIN_NS 100000000u
#define RESTART_MAX_NS 10000000000u

/* ---- Starting -------------------------------------------------------------------------------- */

/* Clears the state of a worker that has been reaped, or that could not be started. */
static void worker_deinit(struct device *device)
{
    struct worker_process *worker = &device->worker;

    worker_link_deinit(device);
    child_close(&device->server->loop, &worker->child);
    segment_pool_deinit(&device->segments);
    accounts_worker_gone(&device->server->accounts, device->index);
    *worker = (struct worker_process){.child = CHILD_NONE};
}

static void worker_process_ready(struct watch *watch, uint32_t events);
static void start_deadline(struct timer *timer);

/* Begins the start phase of the device's worker, whose process exists. */
static void starting_begin(struct device *device)
{
    device->worker.state = WORKER_STARTING;
    timer_set(&device->server->loop, &device->timer, clock_ns() + START_NS, start_deadline);
}

/* ---- Restarting ------------------------------------------------------------------------------ */

static void restart_fire(struct timer *timer)
{
    worker_start(container_of(timer, struct device, timer));
}

/* Makes the standby, ready or not, the worker. Returns false if there is none. */
static bool worker_promote(struct device *device)
{
    struct worker_process *worker = &device->worker;

    if (!standby_take(device, worker, worker_link_ready, worker_process_ready))
        return false;
    starting_begin(device);
    if (worker->child.said_ready)
        worker_ready(device);
    return true;
}

/* Starts the next worker after one that is gone and reaped: at once if tenants wait for it and
 * nothing suggests that it will fail too, otherwise after a pause. */
static void worker_next(struct device *device)
{
    struct server *server = device->server;
    uint64_t pause = RESTART_MIN_NS;

    switch (server->phase) {
    case PHASE_STARTING:
        server_fail(server, "device %d: %s", device->index, device->failure);
        return;
    case PHASE_STOPPING:
    case PHASE_ENDED:
        return;
    case PHASE_DRAINING:
    case PHASE_SERVING:
        break;
    }
    if (device->failures >= DEVICE_FAILURES_MAX) {
        for (struct session *s = NULL; (s = device_session_next(device, s));) {
            if (s->state == SESSION_WAITING)
                server_session_refuse(s, GS_ERR_NO_DEVICE, device->failure);
        }
    }
    if (worker_promote(device))
        return;
    if (device->failures == 0 && device->resuming) {
        worker_start(device);
        return;
    }
    for (uint32_t i = 1; i < device->failures && pause < RESTART_MAX_NS; i++)
        pause *= 2;
    if (pause > RESTART_MAX_NS)
        pause = RESTART_MAX_NS;
    timer_set(&server->loop, &device->timer, clock_ns() + pause, restart_fire);
}

static void start_deadline(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, timer);

    worker_fail(device, NULL, LINK_SLOT_NONE, "the worker was not ready within %u s",
                (unsigned)(START_NS / 1000000000u));
}

void worker_start(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct loop *loop = &device->server->loop;
    int r;

    worker_deinit(device);
    r = worker_spawn(device, &worker->child);
    if (r == 0)
        r = child_watch(loop, &worker->child, worker_link_ready, worker_process_ready);
    if (r < 0) {
        child_end(loop, &worker->child);
        snprintf(device->failure, sizeof(device->failure), "starting a worker: %s", strerror(-r));
        log_error("event=worker-failed device=%d reason=%s", device->index, device->failure);
        worker_deinit(device);
        device->failures++;
        worker_next(device);
        return;
    }
    starting_begin(device);
    log_debug("device %d: worker %d started", device->index, (int)worker->child.pid);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void exit_describe(char text[ERROR_TEXT_MAX], pid_t pid, int status)
{
    if (status == CHILD_STATUS_UNKNOWN)
        snprintf(text, ERROR_TEXT_MAX, "worker %d has ended", (int)pid);
    else if (WIFSIGNALED(status))
        snprintf(text, ERROR_TEXT_MAX, "worker %d was killed by signal %d (%s)", (int)pid,
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, ERROR_TEXT_MAX, "worker %d ended with status %d", (int)pid,
                 WEXITSTATUS(status));
}

/* Returns whether the process was ended by a signal that it caused itself. */
static bool has_crashed(int status)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    bool found = false;

    if (status == CHILD_STATUS_UNKNOWN || !WIFSIGNALED(status))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        found = found || WTERMSIG(status) == signals[i];
    return found;
}

/* Returns whether the kernel may have killed the process for want of memory. The kernel only counts
 * such processes and does not name them. */
static bool has_starved(const struct worker_process *worker, int status)
{
    const bool killed =
        status == CHILD_STATUS_UNKNOWN || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    return killed && out_of_memory_kills() != worker->out_of_memory_kills;
}

static void worker_process_ready(struct watch *watch, uint32_t events)
{
    struct worker_process *worker = container_of(watch, struct worker_process, child.process);
    struct device *device = container_of(worker, struct device, worker);
    char how[ERROR_TEXT_MAX];
    int status;

    (void)events;
    worker_receive(device); /* its last messages may still be in the socket */
    if (!reaper_ended(&device->server->reaper, &device->server->loop, &worker->child, &status))
        return;
    exit_describe(how, worker->child.pid, status);
    log_debug("device %d: %s", device->index, how);
    if (worker->state == WORKER_READY && has_crashed(status))
        worker_crashed(device, how);
    else if (worker->state == WORKER_READY && has_starved(worker, status))
        worker_starved(device, how);
    else
        worker_fail(device, NULL, LINK_SLOT_NONE, "%s", how);
    timer_cancel(&device->server->loop, &device->timer);
    worker_deinit(device);
    worker_next(device);
}

/* Tells the sessions that the worker is lost. A former supervisor may have been killed while it did
 * so. */
static void worker_loss_tell_on(struct device *device)
{
    worker_loss_tell(device, device_culprit(device) ? &device->culprit.fatal : NULL);
}

void worker_restore(struct device *device)
{
    struct worker_process *worker = &device->worker;
    int r;

    worker->outbox = (struct outbox){0};
    worker->resync = NULL;
    if (worker->state == WORKER_NONE || worker->child.process.fd < 0) {
        if (worker->state == WORKER_READY) /* the worker ended while there was no supervisor */
            device->culprit = (struct culprit){0};
        worker_loss_tell_on(device);
        child_signal(&worker->child, SIGKILL);
        worker_deinit(device);
        worker_next(device);
        return;
    }
    r = child_watch(&device->server->loop, &worker->child, worker_link_ready, worker_process_ready);
    if (r < 0) {
        server_fail(device->server, "watching worker %d: %s", (int)worker->child.pid, strerror(-r));
        return;
    }
    worker_receive_again(device);
    if (worker->state == WORKER_READY && !worker->begun)
        worker->state = WORKER_STARTING;
    if (worker->state == WORKER_ENDING) {
        worker_loss_tell_on(device);
        if (!worker->stopped)
            child_signal(&worker->child, SIGKILL);
    } else if (worker->state == WORKER_READY) {
        worker_resync_begin(device);
    } else if (worker->child.said_ready) {
        worker_ready(device);
    } else {
        starting_begin(device);
    }
}

void worker_keep(struct device *device)
{
    struct worker_process *worker = &device->worker;

    if (worker->stopped) {
        worker_link_deinit(device);
        former_take(device, &worker->child);
        timer_cancel(&device->server->loop, &device->timer);
        worker_deinit(device);
        worker_next(device);
    }
    former_keep(device);
}

void worker_kill(struct device *device)
{
    child_end(&device->server->loop, &device->worker.child);
    worker_deinit(device);
    former_kill(device);
    standby_kill(device);
    worker_memory_free(device);
}
