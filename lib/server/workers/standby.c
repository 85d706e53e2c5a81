/* standby.c - see standby.h. */
#include "server/workers/standby.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/child.h"
#include "server/link/worker_link.h"
#include "server/state/server.h"
#include "server/workers/spawn.h"

#define AFTER_NS 1000000000u  /* how long the worker has been ready before a standby is started */
#define AGAIN_NS 10000000000u /* the pause after a standby that failed */

static void standby_forget(struct device *device)
{
    struct loop *loop = &device->server->loop;
    struct standby *standby = &device->standby;
    const int link = standby->link.fd, process = standby->process.fd;

    watch_remove(loop, &standby->link);
    watch_remove(loop, &standby->process);
    if (link >= 0)
        close(link);
    if (process >= 0)
        close(process);
    standby->pid = 0;
    standby->ready = standby->lost = false;
    standby->preload = (struct preload_progress){0};
}

/* A standby serves nobody, so its loss only delays the next start. The process is reaped when it
 * has ended, which may take the driver a while. */
static void standby_lost(struct device *device, const char *why)
{
    struct standby *standby = &device->standby;
    const int link = standby->link.fd;

    log_warning("event=standby-lost device=%d worker=%d seconds=%u reason=%s", device->index,
                (int)standby->pid, (unsigned)(AGAIN_NS / 1000000000u), why);
    standby->next_ns = clock_ns() + AGAIN_NS;
    standby->ready = false;
    standby->lost = true;
    standby->preload = (struct preload_progress){0};
    watch_remove(&device->server->loop, &standby->link);
    close(link);
    child_signal(standby->process.fd, SIGKILL);
}

static void link_ready(struct watch *watch, uint32_t events)
{
    struct standby *standby = container_of(watch, struct standby, link);
    struct device *device = container_of(standby, struct device, standby);
    struct link_message message;
    ssize_t n;

    if (!(events & ~(uint32_t)EPOLLOUT)) /* restart_keep sends more */
        return;
    n = recv(watch->fd, &message, sizeof(message), MSG_DONTWAIT);
    if (n == (ssize_t)sizeof(message) && message.op == LINK_READY && !standby->ready) {
        standby->info = message.u.device;
        standby->ready = true;
        log_debug("device %d: worker %d is its standby", device->index, (int)standby->pid);
    } else if (n == (ssize_t)sizeof(message) && message.op == LINK_PRELOADED && standby->ready) {
        if (standby->preload.phase == PRELOAD_SENT)
            standby->preload.phase = PRELOAD_DONE;
    } else if (n == (ssize_t)sizeof(message) && message.op == LINK_FATAL) {
        worker_text_clean(message.text, sizeof(message.text));
        standby_lost(device, message.text);
    } else {
        standby_lost(device, "it has ended, or sends what makes no sense");
    }
}

static void process_ready(struct watch *watch, uint32_t events)
{
    struct standby *standby = container_of(watch, struct standby, process);
    struct device *device = container_of(standby, struct device, standby);
    int status;

    (void)events;
    if (!standby->lost)
        standby_lost(device, "it has ended");
    if (child_reap(standby->pid, watch->fd, &status))
        standby_forget(device);
}

/* 0 or -errno. */
static int standby_watch(struct device *device, int link, int process)
{
    struct standby *standby = &device->standby;
    struct loop *loop = &device->server->loop;
    int r = link < 0 ? 0 : watch_add(loop, &standby->link, link, EPOLLIN, link_ready);

    if (r == 0)
        r = watch_add(loop, &standby->process, process, EPOLLIN, process_ready);
    if (r < 0)
        watch_remove(loop, &standby->link);
    return r;
}

static void standby_start(struct device *device)
{
    struct standby *standby = &device->standby;
    struct spawned spawned;
    int r = worker_spawn(device, &spawned);

    if (r == 0) {
        standby->pid = spawned.pid;
        r = standby_watch(device, spawned.link, spawned.process);
        if (r < 0)
            spawned_discard(&spawned);
    }
    if (r < 0) {
        standby_forget(device);
        standby->next_ns = clock_ns() + AGAIN_NS;
        log_warning("event=standby-failed device=%d reason=%s", device->index, strerror(-r));
    }
}

static void start_fire(struct timer *timer)
{
    standby_keep(container_of(timer, struct device, standby.timer));
}

void standby_keep(struct device *device)
{
    const struct server *server = device->server;
    struct standby *standby = &device->standby;
    const uint64_t now = clock_ns();
    const bool wanted = device->restart.phase == RESTART_STANDBY;
    uint64_t due = wanted ? now : device->worker.ready_ns + AFTER_NS;

    if (standby->pid || server->options.no_standby || server->phase != PHASE_SERVING ||
        device->worker.state != WORKER_READY || (device->sessions == 0 && !wanted) ||
        (standby->timer.due_ns && !wanted))
        return;
    timer_cancel(&device->server->loop, &standby->timer);
    due = standby->next_ns > due ? standby->next_ns : due;
    if (now >= due)
        standby_start(device);
    else
        timer_set(&device->server->loop, &standby->timer, due, start_fire);
}

bool standby_take(struct device *device, struct spawned *spawned, struct link_device *info,
                  bool *ready)
{
    struct standby *standby = &device->standby;
    struct loop *loop = &device->server->loop;

    if (!standby->pid || standby->lost)
        return false;
    *spawned = (struct spawned){standby->pid, standby->link.fd, standby->process.fd};
    *info = standby->info;
    *ready = standby->ready;
    watch_remove(loop, &standby->link);
    watch_remove(loop, &standby->process);
    standby->pid = 0;
    standby->ready = false;
    standby->preload = (struct preload_progress){0};
    return true;
}

void standby_restore(struct device *device)
{
    struct standby *standby = &device->standby;
    const int link = standby->link.fd, process = standby->process.fd;
    int r;

    standby->timer = (struct timer){0};
    if (!standby->pid || process < 0) {
        standby->link.fd = standby->process.fd = -1;
        child_discard(process, link);
        standby_forget(device);
        return;
    }
    r = standby_watch(device, link, process);
    if (r < 0) {
        server_fail(device->server, "watching standby %d: %s", (int)standby->pid, strerror(-r));
    } else if (!standby->ready || link < 0) {
        standby->lost = true;
        standby->ready = false;
        child_signal(process, SIGKILL);
    }
}

void standby_kill(struct device *device)
{
    timer_cancel(&device->server->loop, &device->standby.timer);
    if (device->standby.pid)
        child_end(device->standby.pid, device->standby.process.fd);
    standby_forget(device);
}
