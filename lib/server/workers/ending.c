/* ending.c - see ending.h. */
#include "server/workers/ending.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/log.h"
#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/session/close.h"
#include "server/state/server.h"

#define QUIT_NS   2000000000u
#define STABLE_NS 10000000000u

static void ending_fire(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, timer);

    log_warning("device %d: worker %d does not end; killing it", device->index,
                (int)device->worker.pid);
    kill(device->worker.pid, SIGKILL);
}

void worker_fail(struct device *device, const struct link_fatal *fatal, uint32_t slot,
                 const char *format, ...)
{
    struct server *server = device->server;
    struct worker_process *worker = &device->worker;
    bool was_ready = worker->state == WORKER_READY;
    va_list ap;

    if (worker->state != WORKER_STARTING && worker->state != WORKER_READY)
        return;
    va_start(ap, format);
    vsnprintf(device->failure, sizeof(device->failure), format, ap);
    va_end(ap);
    if (server->phase != PHASE_STARTING) /* then it is the server's failure, and said there */
        log_error("device %d: %s", device->index, device->failure);

    worker->state = WORKER_ENDING;
    kill(worker->pid, SIGKILL); /* not reaped yet, so the pid is still its own */
    timer_set(&server->loop, &device->timer, clock_ns() + QUIT_NS, ending_fire);
    if (was_ready)
        device->faults++;
    if (!was_ready || clock_ns() - worker->ready_ns < STABLE_NS)
        device->failures++;
    else
        device->failures = 0;
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));) {
        if (s->device == device)
            server_session_worker_lost(s, fatal, fatal && s->slot == slot, device->failure);
    }
}

void worker_quit(struct device *device)
{
    struct link_message message = {.op = LINK_QUIT, .slot = LINK_SLOT_NONE};
    struct server *server = device->server;

    if (device->worker.state == WORKER_NONE) {
        timer_cancel(&server->loop, &device->timer);
        return;
    }
    if (device->worker.state != WORKER_ENDING)
        worker_send(device, &message);
    device->worker.state = WORKER_ENDING;
    timer_set(&server->loop, &device->timer, clock_ns() + QUIT_NS, ending_fire);
}

void worker_recycle(struct device *device)
{
    if (!device->worker.needs_recycling || device->worker.state != WORKER_READY ||
        device->sessions || device->server->phase != PHASE_SERVING)
        return;
    log_info("device %d: worker %d has no sessions and is replaced: its driver keeps the memory of "
             "each set of SMs that it has made",
             device->index, (int)device->worker.pid);
    worker_quit(device);
}
