/*
 * liveness.c - is a session's client still there?
 *
 * The kernel knows who asks: the holder of the record lock on the reply queue, which only the
 * queue's owner can open. A pidfd of that process tells its end at once, from the first moment on.
 * Where it cannot be seen (another PID namespace), the last process that attached the segment may
 * be; else the count of attachments is looked at every 50 ms. Once a second all are looked at so,
 * for a client that has lost its segment by execve.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/tenant.h"

/* To map the segment. A watched client may be slow, or stopped; of one that is not, nothing is
 * known. */
#define CONFIRM_WATCHED_NS 10000000000u
#define CONFIRM_NS         2000000000u
#define POLL_NS            50000000u
#define SWEEP_ALL_NS       1000000000u

static void liveness_gone(struct tenant *tenant, const char *how)
{
    log_debug("session %llu: its client (pid %d) %s", (unsigned long long)tenant->id,
              (int)tenant->pid, how);
    liveness_end(tenant);
    tenant->client = CLIENT_GONE;
    tenant_close(tenant);
}

/* ---- Attachments ----------------------------------------------------------------------------- */

/* true: the client has the segment attached; *last is the last attacher's pid, 0 for one that we
 * cannot see. */
static bool client_attached(const struct tenant *tenant, pid_t *last)
{
    struct shmid_ds ds;

    if (shmctl(tenant->segment_id, IPC_STAT, &ds) < 0)
        return false;
    *last = ds.shm_lpid;
    return ds.shm_nattch > tenant->attached_base;
}

static void sweep_fire(struct timer *timer)
{
    struct server *server = container_of(timer, struct server, sweep);
    uint64_t now = clock_ns();
    bool all = now - server->swept_all_ns >= SWEEP_ALL_NS;
    pid_t last;

    if (all)
        server->swept_all_ns = now;
    for (struct tenant *t = NULL; (t = registry_next(&server->registry, t));) {
        if ((t->client == CLIENT_POLLED || (all && t->client == CLIENT_WATCHED)) &&
            (t->state == TENANT_OPEN || t->state == TENANT_LOST) && !client_attached(t, &last))
            liveness_gone(t, "has detached its segment");
    }
    if (server->registry.count)
        timer_set(&server->loop, timer, now + (server->tenants_polled ? POLL_NS : SWEEP_ALL_NS),
                  sweep_fire);
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
    liveness_gone(container_of(watch, struct tenant, process), "has ended");
}

static bool holds_reply(const struct tenant *tenant, pid_t pid)
{
    return reply_queue_holder(tenant->reply.queue) == pid;
}

static bool attached_last(const struct tenant *tenant, pid_t pid)
{
    pid_t last;

    return client_attached(tenant, &last) && last == pid;
}

/* Watches a process of which `same` is true. Asked once more when the pidfd is open: so the pid had
 * not been given to another meanwhile. 0; -ESRCH: it has ended; other -errno: it cannot be watched.
 */
static int process_watch(struct tenant *tenant, pid_t pid,
                         bool (*same)(const struct tenant *tenant, pid_t pid))
{
    int r, fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        r = -errno;
    else if (!same(tenant, pid))
        r = -ESRCH;
    else
        r = watch_add(&tenant->server->loop, &tenant->process, fd, EPOLLIN, process_ready);
    if (r < 0 && fd >= 0)
        close(fd);
    if (r < 0 && r != -ESRCH)
        log_warning("watching client %d: %s", (int)pid, strerror(-r));
    if (r == 0)
        tenant->pid = pid;
    return r;
}

bool liveness_begin(struct tenant *tenant)
{
    pid_t pid = reply_queue_holder(tenant->reply.queue);

    return pid == 0 || (pid > 0 && process_watch(tenant, pid, holds_reply) != -ESRCH);
}

/* The last process that attached the segment, if it is not one of ours and can be watched. */
static bool attacher_watch(struct tenant *tenant, pid_t pid)
{
    return pid > 0 && pid != getpid() && pid != tenant->device->worker.pid &&
           process_watch(tenant, pid, attached_last) == 0;
}

void liveness_confirm(struct tenant *tenant)
{
    struct server *server = tenant->server;
    pid_t pid;

    if (tenant->client != CLIENT_UNCONFIRMED ||
        (tenant->state != TENANT_OPEN && tenant->state != TENANT_LOST))
        return;
    if (!client_attached(tenant, &pid)) {
        log_debug("session %llu: confirmed, but its segment is not mapped",
                  (unsigned long long)tenant->id);
        return;
    }
    timer_cancel(&server->loop, &tenant->confirm_by);
    if (tenant->process.fd >= 0 || attacher_watch(tenant, pid)) {
        tenant->client = CLIENT_WATCHED;
        sweep_start(server, SWEEP_ALL_NS);
    } else {
        tenant->client = CLIENT_POLLED;
        server->tenants_polled++;
        sweep_start(server, POLL_NS);
    }
}

static void confirm_fire(struct timer *timer)
{
    struct tenant *tenant = container_of(timer, struct tenant, confirm_by);
    pid_t last;

    /* On a busy machine a client may be slow to say so. */
    if (client_attached(tenant, &last))
        liveness_confirm(tenant);
    else
        liveness_gone(tenant, "never mapped its segment");
}

void liveness_expect(struct tenant *tenant)
{
    uint64_t time = tenant->process.fd >= 0 ? CONFIRM_WATCHED_NS : CONFIRM_NS;

    timer_set(&tenant->server->loop, &tenant->confirm_by, clock_ns() + time, confirm_fire);
}

void liveness_end(struct tenant *tenant)
{
    struct server *server = tenant->server;
    int fd = tenant->process.fd;

    timer_cancel(&server->loop, &tenant->confirm_by);
    watch_remove(&server->loop, &tenant->process);
    if (fd >= 0)
        close(fd);
    if (tenant->client == CLIENT_POLLED)
        server->tenants_polled--;
    if (tenant->client != CLIENT_UNCONFIRMED)
        tenant->client = CLIENT_GONE;
}
