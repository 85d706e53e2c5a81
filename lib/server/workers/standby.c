/* standby.c - see standby.h. */
#include "server/workers/standby.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/log.h"
#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/state/server.h"
#include "server/workers/spawn.h"

#define AFTER_NS 1000000000u  /* how long the worker has been ready before a standby is started */
#define AGAIN_NS 10000000000u /* the pause after a standby that failed */

static void standby_deinit(struct device *device)
{
    struct standby *standby = &device->standby;

    child_close(&device->server->loop, &standby->child);
    standby->lost = false;
    standby->pinged_ns = 0;
    standby->missed = 0;
    standby->preload = (struct preload_progress){0};
}

/* Kills the standby. Its process is reaped when it has ended, which may take the driver a while. */
static void standby_end(struct device *device)
{
    struct standby *standby = &device->standby;

    standby->child.said_ready = false;
    standby->lost = true;
    standby->preload = (struct preload_progress){0};
    child_link_close(&device->server->loop, &standby->child);
    child_signal(&standby->child, SIGKILL);
}

/* A standby serves nobody, so its loss only delays the next start. */
static void standby_lost(struct device *device, const char *why)
{
    struct standby *standby = &device->standby;

    log_warning("event=standby-lost device=%d worker=%d seconds=%u reason=%s", device->index,
                (int)standby->child.pid, (unsigned)(AGAIN_NS / 1000000000u), why);
    standby->next_ns = clock_ns() + AGAIN_NS;
    standby_end(device);
}

static void link_ready(struct watch *watch, uint32_t events)
{
    struct standby *standby = container_of(watch, struct standby, child.link);
    struct device *device = container_of(standby, struct device, standby);
    struct link_message message;
    ssize_t n;

    if (!(events & ~(uint32_t)EPOLLOUT)) /* restart_keep sends more */
        return;
    n = recv(watch->fd, &message, sizeof(message), MSG_DONTWAIT);
    if (n == (ssize_t)sizeof(message) && message.op == LINK_READY && !standby->child.said_ready) {
        standby->child.said = message.u.device;
        standby->child.said_ready = true;
        log_debug("device %d: worker %d is its standby", device->index, (int)standby->child.pid);
    } else if (n == (ssize_t)sizeof(message) && message.op == LINK_PRELOADED &&
               standby->child.said_ready) {
        if (standby->preload.phase == PRELOAD_SENT)
            standby->preload.phase = PRELOAD_DONE;
    } else if (n == (ssize_t)sizeof(message) && message.op == LINK_PONG &&
               standby->child.said_ready) {
        standby->pinged_ns = 0;
        standby->missed = 0;
    } else if (n == (ssize_t)sizeof(message) && message.op == LINK_FATAL) {
        worker_text_clean(message.text, sizeof(message.text));
        standby_lost(device, message.text);
    } else {
        standby_lost(device, "it has ended, or sends what makes no sense");
    }
}

static void process_ready(struct watch *watch, uint32_t events)
{
    struct standby *standby = container_of(watch, struct standby, child.process);
    struct device *device = container_of(standby, struct device, standby);
    int status;

    (void)events;
    if (!standby->lost)
        standby_lost(device, "it has ended");
    if (reaper_ended(&device->server->reaper, &device->server->loop, &standby->child, &status))
        standby_deinit(device);
}

static void standby_start(struct device *device)
{
    struct standby *standby = &device->standby;
    struct loop *loop = &device->server->loop;
    int r = worker_spawn(device, &standby->child);

    if (r == 0)
        r = child_watch(loop, &standby->child, link_ready, process_ready);
    if (r < 0) {
        child_end(loop, &standby->child);
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

    if (standby->child.pid || server->options.no_standby || server->phase != PHASE_SERVING ||
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

static bool silent(const struct standby *standby)
{
    return standby->missed >= BEATS_SILENT;
}

pid_t standby_ready(const struct device *device)
{
    const struct standby *standby = &device->standby;

    return standby->child.said_ready && !silent(standby) ? standby->child.pid : 0;
}

/* A standby that is being preloaded is not pinged, since mapping may take long. */
void standby_beat(struct device *device)
{
    struct link_message ping = {.op = LINK_PING, .slot = LINK_SLOT_NONE};
    struct standby *standby = &device->standby;

    if (!standby->child.said_ready || standby->preload.phase != PRELOAD_NONE)
        return;
    if (standby->pinged_ns) {
        if (++standby->missed >= BEATS_MAX)
            standby_lost(device, "it does not answer");
        return;
    }
    standby->pinged_ns = ping.u.ping.number = clock_ns();
    if (!link_write(standby->child.link.fd, &ping, -1))
        standby->pinged_ns = 0;
}

bool standby_take(struct device *device, struct worker_process *to, watch_ready *on_link,
                  watch_ready *on_process)
{
    struct standby *standby = &device->standby;

    if (!standby->child.pid || standby->lost)
        return false;
    if (silent(standby)) {
        standby_lost(device, "it does not answer");
        return false;
    }
    to->pinged_ns = standby->pinged_ns;
    to->missed = standby->missed;
    child_move(&device->server->loop, &standby->child, &to->child, on_link, on_process);
    standby_deinit(device);
    return true;
}

void standby_restore(struct device *device)
{
    struct standby *standby = &device->standby;
    int r;

    standby->timer = (struct timer){0};
    if (!standby->child.pid || standby->child.process.fd < 0) {
        child_signal(&standby->child, SIGKILL);
        standby_deinit(device);
        return;
    }
    r = child_watch(&device->server->loop, &standby->child, link_ready, process_ready);
    if (r < 0)
        server_fail(device->server, "watching standby %d: %s", (int)standby->child.pid,
                    strerror(-r));
    else if (!standby->child.said_ready || standby->child.link.fd < 0 || standby->pinged_ns)
        standby_end(device); /* it is not known whether this standby was pinged and has answered */
}

void standby_kill(struct device *device)
{
    timer_cancel(&device->server->loop, &device->standby.timer);
    child_end(&device->server->loop, &device->standby.child);
    standby_deinit(device);
}
