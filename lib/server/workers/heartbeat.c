/* heartbeat.c - see heartbeat.h. */
#include "server/workers/heartbeat.h"

#include "common/log.h"
#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/state/server.h"
#include "server/workers/ending.h"
#include "server/workers/standby.h"

#define BEAT_NS 1000000000u

/* Logs once that the worker is silent, and once that it answers again. */
static void silence_log(struct device *device)
{
    struct worker_process *worker = &device->worker;
    const bool stuck = worker->stuck_ns >= HUNG_NS,
               silent = stuck || worker->missed >= BEATS_SILENT;

    if (silent == worker->silence_logged)
        return;
    worker->silence_logged = silent;
    if (stuck)
        log_warning("event=worker-silent device=%d worker=%d reason=\"it is stuck in a driver "
                    "call\"",
                    device->index, (int)worker->child.pid);
    else if (silent)
        log_warning("event=worker-silent device=%d worker=%d reason=\"it does not answer: it is "
                    "stopped, or has no processor\"",
                    device->index, (int)worker->child.pid);
    else
        log_warning("event=worker-answers device=%d worker=%d", device->index,
                    (int)worker->child.pid);
}

static void heartbeat_fire(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, heartbeat);
    struct worker_process *worker = &device->worker;

    if (worker->state != WORKER_READY || device->sessions == 0) {
        worker->stuck_ns = 0; /* no pings are sent any more */
        return;
    }
    if (worker->pinged_ns == 0) {
        worker->missed = 0;
        worker_ping(device);
    } else if (++worker->missed >= BEATS_MAX) {
        worker_fail(device, NULL, LINK_SLOT_NONE,
                    "worker %d has not answered for %u s and is ended: it was stopped, or had no "
                    "processor",
                    (int)worker->child.pid, BEATS_MAX);
        return;
    }
    silence_log(device);
    standby_beat(device);
    timer_set(&device->server->loop, timer, clock_ns() + BEAT_NS, heartbeat_fire);
}

void heartbeat_keep(struct device *device)
{
    const uint64_t overdue = device->worker.overdue;

    device->worker.overdue = 0;
    if (overdue && device_silent(device, HUNG_NS))
        worker_fail(device, NULL, LINK_SLOT_NONE,
                    "worker %d %s and is ended: session %llu was to end by now",
                    (int)device->worker.child.pid, device_silence(device),
                    (unsigned long long)overdue);
    if (device->heartbeat.due_ns == 0)
        heartbeat_fire(&device->heartbeat);
}
