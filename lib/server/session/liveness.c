/* liveness.c - see liveness.h. */
#include "server/session/liveness.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/session/close.h"
#include "server/state/server.h"

/* The times that a client has to map its segment. A watched client may be slow or stopped; nothing
 * is known of one that is not watched, so it gets less. */
#define CONFIRM_WATCHED_NS 10000000000u
#define CONFIRM_NS         2000000000u
#define POLL_NS            50000000u
#define SWEEP_ALL_NS       1000000000u

static void liveness_gone(struct session *session, const char *how)
{
    log_debug("session %llu: its client (pid %d) %s", (unsigned long long)session->id,
              (int)session->pid, how);
    server_session_unwatch(session);
    session->client = CLIENT_GONE;
    server_session_close(session);
}

/* ---- Attachments ----------------------------------------------------------------------------- */

/* Returns whether the client has the segment attached. Sets *last to the last attacher's pid, 0 for
 * a process that this one cannot see. */
static bool client_attached(const struct session *session, pid_t *last)
{
    struct shmid_ds ds;

    if (shmctl(session->segment_id, IPC_STAT, &ds) < 0)
        return false;
    *last = ds.shm_lpid;
    return ds.shm_nattch > session->attached_base;
}

/* Returns whether the client has detached its segment. A dying worker loses its own attachment some
 * time before its end can be seen, and the count does not show whose attachment is gone. So the
 * client's counts as gone only if it is still missing after the worker has answered a ping that was
 * sent since. */
static bool client_left(struct session *session)
{
    pid_t last;

    if (client_attached(session, &last)) {
        session->missing_ns = 0;
        return false;
    }
    if (session->state == SESSION_LOST) /* the worker's attachment is not counted then */
        return true;
    if (session->missing_ns == 0)
        session->missing_ns = clock_ns();
    if (session->device->worker.answered_ns > session->missing_ns)
        return true;
    worker_ping(session->device);
    return false;
}

static void sweep_fire(struct timer *timer)
{
    struct server *server = container_of(timer, struct server, sweep);
    uint64_t now = clock_ns();
    bool all = now - server->swept_all_ns >= SWEEP_ALL_NS, soon = server->sessions_polled > 0;

    if (all)
        server->swept_all_ns = now;
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));) {
        if ((s->client != CLIENT_POLLED &&
             (s->client != CLIENT_WATCHED || (!all && s->missing_ns == 0))) ||
            (s->state != SESSION_OPEN && s->state != SESSION_LOST))
            continue;
        if (client_left(s))
            liveness_gone(s, "has detached its segment");
        else
            soon = soon || s->missing_ns;
    }
    if (server->registry.count)
        timer_set(&server->loop, timer, now + (soon ? POLL_NS : SWEEP_ALL_NS), sweep_fire);
}

static void sweep_start(struct server *server, uint64_t after_ns)
{
    uint64_t due = clock_ns() + after_ns;

    if (server->sweep.due_ns == 0 || server->sweep.due_ns > due)
        timer_set(&server->loop, &server->sweep, due, sweep_fire);
}

/* ---- The client's process -------------------------------------------------------------------- */

static void process_ready(struct watch *watch, uint32_t events)
{
    (void)events;
    liveness_gone(container_of(watch, struct session, process), "has ended");
}

static bool holds_reply(const struct session *session, pid_t pid)
{
    return reply_queue_holder(session->reply.queue) == pid;
}

static bool attached_last(const struct session *session, pid_t pid)
{
    pid_t last;

    return client_attached(session, &last) && last == pid;
}

/* Watches a process for which `same` is true. `same` is called once the pidfd is open, which proves
 * that the pid has not been reused meanwhile. Returns 0; -ESRCH if the process has ended; another
 * -errno if it cannot be watched. */
static int process_watch(struct session *session, pid_t pid,
                         bool (*same)(const struct session *session, pid_t pid))
{
    int r, fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        r = -errno;
    else if (!same(session, pid))
        r = -ESRCH;
    else
        r = watch_add(&session->server->loop, &session->process, fd, EPOLLIN, process_ready);
    if (r < 0 && fd >= 0)
        close(fd);
    if (r < 0 && r != -ESRCH)
        log_warning("event=watch-failed pid=%d reason=%s", (int)pid, strerror(-r));
    if (r == 0)
        session->pid = pid;
    return r;
}

bool liveness_begin(struct session *session)
{
    pid_t pid = reply_queue_holder(session->reply.queue);

    return pid == 0 || (pid > 0 && process_watch(session, pid, holds_reply) != -ESRCH);
}

/* Watches the last process that attached the segment, unless it is the supervisor or a worker. */
static bool attacher_watch(struct session *session, pid_t pid)
{
    const struct device *device = session->device;

    return pid > 0 && pid != getpid() && pid != device->worker.child.pid &&
           pid != device->standby.child.pid && pid != device->former.child.pid &&
           process_watch(session, pid, attached_last) == 0;
}

void liveness_confirm(struct session *session)
{
    struct server *server = session->server;
    pid_t pid;

    if (session->client != CLIENT_UNCONFIRMED ||
        (session->state != SESSION_OPEN && session->state != SESSION_LOST && !session->resuming))
        return;
    if (!client_attached(session, &pid)) {
        log_debug("session %llu: confirmed, but its segment is not mapped",
                  (unsigned long long)session->id);
        return;
    }
    timer_cancel(&server->loop, &session->confirm_by);
    if (session->process.fd >= 0 || attacher_watch(session, pid)) {
        session->client = CLIENT_WATCHED;
        sweep_start(server, SWEEP_ALL_NS);
    } else {
        session->client = CLIENT_POLLED;
        server->sessions_polled++;
        sweep_start(server, POLL_NS);
    }
}

static void confirm_fire(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, confirm_by);

    if (client_left(session))
        liveness_gone(session, "never mapped its segment");
    else if (session->missing_ns)
        timer_set(&session->server->loop, timer, clock_ns() + POLL_NS, confirm_fire);
    else /* on a busy machine a client may be slow to confirm */
        liveness_confirm(session);
}

void liveness_expect(struct session *session)
{
    uint64_t time = session->process.fd >= 0 ? CONFIRM_WATCHED_NS : CONFIRM_NS;

    timer_set(&session->server->loop, &session->confirm_by, clock_ns() + time, confirm_fire);
}

void liveness_restore(struct session *session)
{
    struct server *server = session->server;
    const int process = session->process.fd;

    if (process >= 0 &&
        watch_add(&server->loop, &session->process, process, EPOLLIN, process_ready) < 0) {
        session->process.fd = -1;
        close(process);
    }
    if (session->client == CLIENT_WATCHED && session->process.fd < 0)
        session->client = CLIENT_POLLED;
    if (session->client == CLIENT_POLLED)
        server->sessions_polled++;
    if (session->client != CLIENT_UNCONFIRMED)
        sweep_start(server, session->client == CLIENT_POLLED ? POLL_NS : SWEEP_ALL_NS);
    else if (session->reply.queue < 0)
        liveness_expect(session);
}
