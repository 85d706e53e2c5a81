/* former.c - see former.h. */
#include "server/workers/former.h"

#include <signal.h>

#include "common/log.h"
#include "common/util.h"
#include "server/state/server.h"

/* The longest life of a former worker, which holds device memory that the next one may need. */
#define PATIENCE_NS 1000000000u

static void former_deinit(struct device *device)
{
    timer_cancel(&device->server->loop, &device->former.kill_by);
    child_close(&device->server->loop, &device->former.child);
}

static void process_ready(struct watch *watch, uint32_t events)
{
    struct former *former = container_of(watch, struct former, child.process);
    struct device *device = container_of(former, struct device, former);
    int status;

    (void)events;
    if (!reaper_ended(&device->server->reaper, &device->server->loop, &former->child, &status))
        return;
    log_debug("device %d: worker %d, which was stopped, has ended", device->index,
              (int)former->child.pid);
    former_deinit(device);
}

static void kill_fire(struct timer *timer)
{
    child_signal(&container_of(timer, struct former, kill_by)->child, SIGKILL);
}

void former_take(struct device *device, struct child *worker)
{
    struct former *former = &device->former;
    struct loop *loop = &device->server->loop;

    child_move(loop, worker, &former->child, NULL, process_ready);
    timer_set(loop, &former->kill_by, clock_ns() + PATIENCE_NS, kill_fire);
}

void former_keep(struct device *device)
{
    struct former *former = &device->former;
    const bool waited_for = device->resuming && (device->worker.state == WORKER_STARTING ||
                                                 device->worker.state == WORKER_READY);

    if (former->child.pid && former->kill_by.due_ns && !waited_for) {
        timer_cancel(&device->server->loop, &former->kill_by);
        child_signal(&former->child, SIGKILL);
    }
}

void former_kill(struct device *device)
{
    timer_cancel(&device->server->loop, &device->former.kill_by);
    child_end(&device->server->loop, &device->former.child);
}

void former_restore(struct device *device)
{
    struct former *former = &device->former;

    former->kill_by = (struct timer){0};
    child_signal(&former->child, SIGKILL);
    if (!former->child.pid || former->child.process.fd < 0 ||
        child_watch(&device->server->loop, &former->child, NULL, process_ready) < 0)
        former_deinit(device);
}
