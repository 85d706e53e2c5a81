/* process.c - see process.h. */
#include "server/workers/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/child.h"
#include "server/base/leftovers.h"
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

#define START_NS       60000000000u /* a driver's first initialisation can take long */
#define RESTART_MIN_NS 100000000u
#define RESTART_MAX_NS 10000000000u

/* ---- Starting -------------------------------------------------------------------------------- */

/* Forgets all of a worker that has been reaped, or that never came to be. */
static void worker_forget(struct device *device)
{
    struct worker_process *worker = &device->worker;
    int process = worker->process.fd;

    watch_remove(&device->server->loop, &worker->process);
    if (process >= 0)
        close(process);
    worker_link_deinit(device);
    segment_pool_clear(&device->segments);
    *worker = (struct worker_process){.process.fd = -1, .link.fd = -1};
}

static void worker_process_ready(struct watch *watch, uint32_t events);

/* Watches the worker's socket and process. 0 or -errno. */
static int worker_watch(struct device *device, int link, int process)
{
    struct worker_process *worker = &device->worker;
    struct loop *loop = &device->server->loop;
    int r = link < 0 ? 0 : watch_add(loop, &worker->link, link, EPOLLIN, worker_link_ready);

    if (r == 0)
        r = watch_add(loop, &worker->process, process, EPOLLIN, worker_process_ready);
    if (r < 0)
        watch_remove(loop, &worker->link);
    return r;
}

/* Makes the process the device's worker. It is the worker's from then on, also on failure. info:
 * what it has said when it was ready; NULL: it is not. */
static int worker_adopt(struct device *device, const struct spawned *spawned,
                        const struct link_device *info)
{
    int r = worker_watch(device, spawned->link, spawned->process);

    if (r < 0) {
        spawned_discard(spawned);
        return r;
    }
    device->worker.pid = spawned->pid;
    device->worker.said_ready = info;
    if (info)
        device->worker.said = *info;
    device->worker.state = WORKER_STARTING;
    return 0;
}

/* ---- Restarting ------------------------------------------------------------------------------ */

static void restart_fire(struct timer *timer)
{
    worker_start(container_of(timer, struct device, timer));
}

static void start_deadline(struct timer *timer);

/* Makes the standby the worker, ready or not yet. false: there is none. */
static bool worker_promote(struct device *device)
{
    struct link_device info;
    struct spawned spawned;
    bool ready;

    if (!standby_take(device, &spawned, &info, &ready) ||
        worker_adopt(device, &spawned, ready ? &info : NULL) < 0)
        return false;
    if (ready)
        worker_ready(device);
    else
        timer_set(&device->server->loop, &device->timer, clock_ns() + START_NS, start_deadline);
    return true;
}

/* The worker is gone, and reaped: the next one starts at once where tenants wait for it and nothing
 * says that it will fail too, else after a pause. */
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
    struct spawned spawned;
    int r;

    worker_forget(device);
    r = worker_spawn(device, &spawned);
    if (r == 0)
        r = worker_adopt(device, &spawned, NULL);
    if (r < 0) {
        snprintf(device->failure, sizeof(device->failure), "starting a worker: %s", strerror(-r));
        log_error("event=worker-failed device=%d reason=%s", device->index, device->failure);
        worker_forget(device);
        device->failures++;
        worker_next(device);
        return;
    }
    timer_set(&device->server->loop, &device->timer, clock_ns() + START_NS, start_deadline);
    log_debug("device %d: worker %d started", device->index, (int)device->worker.pid);
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

static void worker_process_ready(struct watch *watch, uint32_t events)
{
    struct worker_process *worker = container_of(watch, struct worker_process, process);
    struct device *device = container_of(worker, struct device, worker);
    char how[ERROR_TEXT_MAX];
    int status;

    (void)events;
    worker_receive(device); /* its last messages may still be in the socket */
    if (!child_reap(worker->pid, watch->fd, &status))
        return;
    leftover_segments_remove();
    exit_describe(how, worker->pid, status);
    log_debug("device %d: %s", device->index, how);
    worker_fail(device, NULL, LINK_SLOT_NONE, "%s", how);
    timer_cancel(&device->server->loop, &device->timer);
    worker_forget(device);
    worker_next(device);
}

/* The supervisor was killed while it told the sessions that the worker is lost. */
static void worker_loss_tell(struct device *device)
{
    const struct culprit *culprit = device->culprit.session_id ? &device->culprit : NULL;

    for (struct session *s = NULL; (s = device_session_next(device, s));)
        server_session_worker_lost(s, NULL, culprit, device->failure);
}

void worker_restore(struct device *device)
{
    struct worker_process *worker = &device->worker;
    const int link = worker->link.fd, process = worker->process.fd;
    int r;

    worker->outbox = (struct outbox){0};
    worker->resync = NULL;
    if (worker->state == WORKER_NONE || process < 0) {
        worker_loss_tell(device);
        worker->link.fd = worker->process.fd = -1;
        child_discard(process, link);
        worker_forget(device);
        worker_next(device);
        return;
    }
    r = worker_watch(device, link, process);
    if (r < 0) {
        server_fail(device->server, "watching worker %d: %s", (int)worker->pid, strerror(-r));
        return;
    }
    worker_receive_again(device);
    if (worker->state == WORKER_READY && !worker->begun)
        worker->state = WORKER_STARTING;
    if (worker->state == WORKER_ENDING) {
        worker_loss_tell(device);
        if (!worker->stopped)
            child_signal(process, SIGKILL);
    } else if (worker->state == WORKER_STARTING && !worker->said_ready) {
        timer_set(&device->server->loop, &device->timer, clock_ns() + START_NS, start_deadline);
    } else if (worker->state == WORKER_STARTING) {
        worker_ready(device);
    } else if (worker->state == WORKER_READY) {
        worker_resync_begin(device);
    }
}

void worker_keep(struct device *device)
{
    struct worker_process *worker = &device->worker;

    if (worker->stopped) {
        former_take(device, worker->pid, &worker->process);
        timer_cancel(&device->server->loop, &device->timer);
        worker_forget(device);
        worker_next(device);
    }
    former_keep(device);
}

void worker_kill(struct device *device)
{
    if (device->worker.state != WORKER_NONE)
        child_end(device->worker.pid, device->worker.process.fd);
    worker_forget(device);
    former_kill(device);
    standby_kill(device);
    worker_memory_free(device);
}
