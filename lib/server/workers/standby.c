/* standby.c - see standby.h. */
#include "server/workers/standby.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
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
}

/* It serves nobody, so its loss is no more than a delay of the next start. The process is reaped
 * when it has ended, which may take the driver a while. */
static void standby_lost(struct device *device, const char *why)
{
    struct standby *standby = &device->standby;
    const int link = standby->link.fd;

    log_warning("device %d: its standby (worker %d) is lost, and started again in %u s: %s",
                device->index, (int)standby->pid, (unsigned)(AGAIN_NS / 1000000000u), why);
    standby->next_ns = clock_ns() + AGAIN_NS;
    standby->ready = false;
    standby->lost = true;
    watch_remove(&device->server->loop, &standby->link);
    close(link);
    kill(standby->pid, SIGKILL);
}

static void link_ready(struct watch *watch, uint32_t events)
{
    struct standby *standby = container_of(watch, struct standby, link);
    struct device *device = container_of(standby, struct device, standby);
    struct link_message message;
    const ssize_t n = recv(watch->fd, &message, sizeof(message), MSG_DONTWAIT);

    (void)events;
    if (n == (ssize_t)sizeof(message) && message.op == LINK_READY && !standby->ready) {
        standby->info = message.u.device;
        standby->ready = true;
        log_debug("device %d: worker %d is its standby", device->index, (int)standby->pid);
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

    (void)events;
    if (!standby->lost)
        standby_lost(device, "it has ended");
    if (waitpid(standby->pid, NULL, WNOHANG) == standby->pid)
        standby_forget(device);
}

static void standby_start(struct device *device)
{
    struct standby *standby = &device->standby;
    struct loop *loop = &device->server->loop;
    struct spawned spawned;
    int r = worker_spawn(device, &spawned);

    if (r == 0) {
        standby->pid = spawned.pid;
        r = watch_add(loop, &standby->link, spawned.link, EPOLLIN, link_ready);
        if (r == 0)
            r = watch_add(loop, &standby->process, spawned.process, EPOLLIN, process_ready);
        if (r < 0) {
            watch_remove(loop, &standby->link);
            spawned_discard(&spawned);
        }
    }
    if (r < 0) {
        standby_forget(device);
        standby->next_ns = clock_ns() + AGAIN_NS;
        log_warning("device %d: starting a standby: %s", device->index, strerror(-r));
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
    return true;
}

void standby_kill(struct device *device)
{
    const pid_t pid = device->standby.pid;

    timer_cancel(&device->server->loop, &device->standby.timer);
    standby_forget(device);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}
