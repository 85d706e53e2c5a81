/* former.c - see former.h. */
#include "server/workers/former.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/child.h"
#include "server/state/server.h"

#define PATIENCE_NS                                                                                \
    1000000000u /* the former worker holds device memory that the next one may need */

static void former_forget(struct device *device)
{
    struct former *former = &device->former;
    const int process = former->process.fd;

    timer_cancel(&device->server->loop, &former->kill_by);
    watch_remove(&device->server->loop, &former->process);
    if (process >= 0)
        close(process);
    former->pid = 0;
}

static void process_ready(struct watch *watch, uint32_t events)
{
    struct former *former = container_of(watch, struct former, process);
    struct device *device = container_of(former, struct device, former);
    int status;

    (void)events;
    if (!child_reap(former->pid, watch->fd, &status))
        return;
    log_debug("device %d: worker %d, which was stopped, has ended", device->index,
              (int)former->pid);
    former_forget(device);
}

static void kill_fire(struct timer *timer)
{
    child_signal(container_of(timer, struct former, kill_by)->process.fd, SIGKILL);
}

void former_take(struct device *device, pid_t pid, struct watch *process)
{
    struct former *former = &device->former;
    struct loop *loop = &device->server->loop;

    former->pid = pid;
    watch_move(loop, process, &former->process, EPOLLIN, process_ready);
    timer_set(loop, &former->kill_by, clock_ns() + PATIENCE_NS, kill_fire);
}

void former_keep(struct device *device)
{
    struct former *former = &device->former;
    const bool waited_for = device->resuming && (device->worker.state == WORKER_STARTING ||
                                                 device->worker.state == WORKER_READY);

    if (former->pid && former->kill_by.due_ns && !waited_for) {
        timer_cancel(&device->server->loop, &former->kill_by);
        child_signal(former->process.fd, SIGKILL);
    }
}

void former_kill(struct device *device)
{
    struct former *former = &device->former;

    if (!former->pid)
        return;
    child_end(former->pid, former->process.fd);
    former_forget(device);
}

void former_restore(struct device *device)
{
    struct former *former = &device->former;
    const int process = former->process.fd;

    former->kill_by = (struct timer){0};
    if (former->pid && process >= 0) {
        child_signal(process, SIGKILL);
        if (watch_add(&device->server->loop, &former->process, process, EPOLLIN, process_ready) ==
            0)
            return;
    }
    former->process.fd = -1;
    child_discard(process, -1);
    former_forget(device);
}
