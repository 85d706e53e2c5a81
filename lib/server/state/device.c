/* device.c - see device.h. */
#include "server/state/device.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/names.h"
#include "common/util.h"
#include "server/state/registry.h"
#include "server/state/server.h"
#include "server/state/session.h"

void device_init(struct device *device, struct server *server, int index)
{
    *device = (struct device){.server = server,
                              .index = index,
                              .worker.child = CHILD_NONE,
                              .standby.child = CHILD_NONE,
                              .former.child = CHILD_NONE,
                              .restart.reply.queue = -1,
                              .bell_queue = -1,
                              .stats_fd = -1,
                              .code_fd = -1};
    name_bell(device->bell, geteuid(), server->options.instance, index);
}

void device_deinit(struct device *device)
{
    struct loop *loop = &device->server->loop;

    timer_cancel(loop, &device->timer);
    timer_cancel(loop, &device->heartbeat);
    timer_cancel(loop, &device->plan_soon);
    timer_cancel(loop, &device->grant_retry);
    if (device->bell_queue >= 0) {
        mq_unlink(device->bell);
        mq_close(device->bell_queue);
    }
    device->bell_queue = -1;
    word_queue_deinit(&device->news.words);
}

int device_bell_open(struct device *device, mode_t mode)
{
    struct mq_attr attr = {.mq_maxmsg = BELL_QUEUE_DEPTH, .mq_msgsize = BELL_MESSAGE_SIZE};

    device->bell_queue =
        mq_open(device->bell, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode, &attr);
    /* The umask would not let all served users open the queue. */
    return device->bell_queue < 0 || fchmod(device->bell_queue, mode) < 0 ? -errno : 0;
}

struct session *device_session_next(const struct device *device, const struct session *session)
{
    struct session *s = registry_next(&device->server->registry, session);

    while (s && s->device != device)
        s = registry_next(&device->server->registry, s);
    return s;
}

struct session *device_session(const struct device *device, uint32_t slot)
{
    struct session *s = registry_by_slot(&device->server->registry, slot);

    return s && s->device == device ? s : NULL;
}

void device_due(struct device *device, uint32_t due)
{
    device->due |= due;
}

static void plan_fire(struct timer *timer)
{
    device_due(container_of(timer, struct device, plan_soon), DUE_PLAN);
}

void device_plan_soon(struct device *device)
{
    if (device->plan_soon.due_ns == 0)
        timer_set(&device->server->loop, &device->plan_soon, clock_ns(), plan_fire);
}

bool device_usable(const struct device *device)
{
    return device->worker.state == WORKER_READY || device->failures < DEVICE_FAILURES_MAX;
}

bool device_drained(const struct device *device)
{
    return device->server->settings.drained >> device->index & 1;
}

bool device_silent(const struct device *device, uint64_t at_least_ns)
{
    const struct worker_process *worker = &device->worker;

    return worker->state == WORKER_READY &&
           ((worker->pinged_ns && clock_ns() - worker->pinged_ns >= at_least_ns) ||
            (worker->stuck_ns && worker->stuck_ns >= at_least_ns));
}

bool device_stuck(const struct device *device)
{
    return device->worker.stuck_ns >= SILENT_NS;
}

const char *device_silence(const struct device *device)
{
    return device_stuck(device) ? "is stuck in a driver call" : "does not answer";
}

uint64_t device_memory_used(const struct device *device)
{
    uint64_t used = 0;

    for (struct session *s = NULL; device->stats && (s = device_session_next(device, s));) {
        if (session_has_memory(s) || s->resuming)
            used += atomic_load_explicit(&device->stats[s->slot].memory_used, memory_order_relaxed);
    }
    return used;
}
