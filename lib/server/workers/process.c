/*
 * device.c - a device's worker processes: start, readiness, loss, and the next start.
 *
 *   NONE --> STARTING --> READY --> ENDING --> NONE, then after a pause STARTING again
 *
 * A worker that says that it needs recycling is told to quit when it has no sessions, and its end
 * is like any other, but nobody's fault. While the server starts, a worker's failure is the
 * server's. Later a device whose worker fails over and over counts as failed, and is tried again
 * every ten seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/names.h"
#include "common/util.h"
#include "server/state/server.h"
#include "server/state/session.h"
#include "server/state/settings_fit.h"

#define START_NS       60000000000u /* a driver's first initialisation can take long */
#define QUIT_NS        2000000000u
#define STABLE_NS      10000000000u
#define RESTART_MIN_NS 100000000u
#define RESTART_MAX_NS 10000000000u
#define FAILURES_MAX   5u
#define PRIORITY_MAX   1000
#define STATS_BYTES    (LINK_SLOTS_MAX * sizeof(struct link_stats))

/* ---- Starting -------------------------------------------------------------------------------- */

/* In the child: descriptors to their places, then the worker's own program text. */
static void __attribute__((noreturn))
worker_exec(const struct device *device, int link, int stats, pid_t supervisor)
{
    char number[16];
    char *arguments[] = {"gshared",
                         "--worker",
                         number,
                         (char *)(uintptr_t)device->server->options.kind,
                         (char *)(uintptr_t)device->bell,
                         NULL};
    sigset_t none;

    snprintf(number, sizeof(number), "%d", device->index);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)
        _exit(1);
    /* A terminal's or a service manager's signals are for the supervisor. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* Out of each other's way first. */
    link = fcntl(link, F_DUPFD_CLOEXEC, LINK_STATS_FD + 1);
    stats = fcntl(stats, F_DUPFD_CLOEXEC, LINK_STATS_FD + 1);
    if (dup2(link, LINK_FD) < 0 || dup2(stats, LINK_STATS_FD) < 0)
        _exit(126);
    execv("/proc/self/exe", arguments);
    _exit(127);
}

/* The page of figures that the worker writes and we read. Sealed: it cannot be cut short under us.
 */
static int stats_make(struct link_stats **stats)
{
    int fd = memfd_create("gshare-stats", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *at;

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, STATS_BYTES) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ||
        (at = mmap(NULL, STATS_BYTES, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED) {
        int error = errno;
        close(fd);
        return -error;
    }
    *stats = at;
    return fd;
}

/* Forgets all of a worker that has been reaped, or that never came to be. */
static void worker_forget(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct loop *loop = &device->server->loop;
    int fds[] = {worker->process.fd, worker->link.fd};

    watch_remove(loop, &worker->process);
    watch_remove(loop, &worker->link);
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    outbox_deinit(&worker->outbox);
    if (worker->stats)
        munmap(worker->stats, STATS_BYTES);
    *worker = (struct worker_process){.process.fd = -1, .link.fd = -1};
}

static void worker_process_ready(struct watch *watch, uint32_t events);

/* Makes all that a worker needs and forks it. 0 or -errno; what was made is the caller's to forget.
 */
static int worker_spawn(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct loop *loop = &device->server->loop;
    CLEANUP_FD int stats = -1;
    CLEANUP_FD int theirs = -1;
    int pair[2], process, r;
    pid_t supervisor = getpid();

    stats = stats_make(&worker->stats);
    if (stats < 0)
        return stats;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    theirs = pair[1];
    r = fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0
            ? -errno
            : watch_add(loop, &worker->link, pair[0], EPOLLIN, worker_link_ready);
    if (r < 0) {
        close(pair[0]);
        return r;
    }
    worker->pid = fork();
    if (worker->pid == 0)
        worker_exec(device, theirs, stats, supervisor);
    if (worker->pid < 0) {
        worker->pid = 0;
        return -errno;
    }
    process = (int)syscall(SYS_pidfd_open, worker->pid, 0);
    r = process < 0 ? -errno
                    : watch_add(loop, &worker->process, process, EPOLLIN, worker_process_ready);
    if (r < 0) {
        if (process >= 0)
            close(process);
        kill(worker->pid, SIGKILL);
        waitpid(worker->pid, NULL, 0);
    }
    return r;
}

static void device_next(struct device *device);

static void start_deadline(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, timer);

    device_fail(device, NULL, LINK_SLOT_NONE, "the worker was not ready within %u s",
                (unsigned)(START_NS / 1000000000u));
}

void device_start(struct device *device)
{
    int r;

    worker_forget(device);
    r = worker_spawn(device);
    if (r < 0) {
        snprintf(device->failure, sizeof(device->failure), "starting a worker: %s", strerror(-r));
        log_error("device %d: %s", device->index, device->failure);
        worker_forget(device);
        device->failures++;
        device_next(device);
        return;
    }
    device->worker.state = WORKER_STARTING;
    timer_set(&device->server->loop, &device->timer, clock_ns() + START_NS, start_deadline);
    log_debug("device %d: worker %d started", device->index, (int)device->worker.pid);
}

/* CUDA's priorities are 0 and some below it. */
static bool priorities_possible(const struct link_device *info)
{
    return info->priority_lowest <= PRIORITY_MAX && info->priority_highest >= -PRIORITY_MAX &&
           info->priority_lowest >= info->priority_highest;
}

bool device_ready(struct device *device, const struct link_device *info)
{
    struct server *server = device->server;

    if (!priorities_possible(info) || !placer_device_init(&device->sms, info))
        return false;
    timer_cancel(&server->loop, &device->timer);
    device->info = *info;
    device->info.name[sizeof(device->info.name) - 1] = 0;
    device->info.driver[sizeof(device->info.driver) - 1] = 0;
    device->worker.state = WORKER_READY;
    device->worker.ready_ns = clock_ns();
    log_info("device %d: %s, %llu MiB, %u SMs, %s; worker %d", device->index, device->info.name,
             (unsigned long long)(device->info.memory_total >> 20), device->info.sm_count,
             device->info.driver, (int)device->worker.pid);
    server_devices_found(server, info->device_count);
    device->info.sm_granularity = device->sms.granularity;
    device->policy_sent = false;
    reservations_place(device);
    policy_update(device);
    if (server->phase == PHASE_STARTING)
        settings_fit_log(device);
    grants_ready(device);
    server_progress(server);
    return true;
}

/* ---- Loss ------------------------------------------------------------------------------------ */

static void restart_fire(struct timer *timer)
{
    device_start(container_of(timer, struct device, timer));
}

/* The worker is gone, and reaped. */
static void device_next(struct device *device)
{
    struct server *server = device->server;
    uint64_t pause = RESTART_MIN_NS;

    switch (server->phase) {
    case PHASE_STARTING:
        server_fail(server, "device %d: %s", device->index, device->failure);
        return;
    case PHASE_STOPPING:
        server_progress(server);
        return;
    case PHASE_DRAINING:
    case PHASE_SERVING:
        break;
    }
    if (device->failures >= FAILURES_MAX) {
        for (struct session *t = NULL; (t = registry_next(&server->registry, t));) {
            if (t->device == device && t->state == SESSION_WAITING)
                server_session_refuse(t, GS_ERR_NO_DEVICE, device->failure);
        }
    }
    for (uint32_t i = 1; i < device->failures && pause < RESTART_MAX_NS; i++)
        pause *= 2;
    if (pause > RESTART_MAX_NS)
        pause = RESTART_MAX_NS;
    timer_set(&server->loop, &device->timer, clock_ns() + pause, restart_fire);
}

static void ending_fire(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, timer);

    log_warning("device %d: worker %d does not end; killing it", device->index,
                (int)device->worker.pid);
    kill(device->worker.pid, SIGKILL);
}

void device_fail(struct device *device, const struct link_fatal *fatal, uint32_t slot,
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
    for (struct session *t = NULL; (t = registry_next(&server->registry, t));) {
        if (t->device == device)
            server_session_worker_lost(t, fatal, fatal && t->slot == slot, device->failure);
    }
}

static void exit_describe(char text[ERROR_TEXT_MAX], pid_t pid, int status)
{
    if (WIFSIGNALED(status))
        snprintf(text, ERROR_TEXT_MAX, "worker %d was killed by signal %d (%s)", (int)pid,
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, ERROR_TEXT_MAX, "worker %d ended with status %d", (int)pid,
                 WEXITSTATUS(status));
}

static void worker_process_ready(struct watch *watch, uint32_t events)
{
    struct worker_process *worker = container_of(watch, struct worker_process, process);
    struct device *device = container_of(worker, struct device, worker);
    char how[ERROR_TEXT_MAX];
    int status;

    (void)events;
    worker_receive(device); /* its last words may still be in the socket */
    if (waitpid(worker->pid, &status, WNOHANG) != worker->pid)
        return;
    exit_describe(how, worker->pid, status);
    log_debug("device %d: %s", device->index, how);
    device_fail(device, NULL, LINK_SLOT_NONE, "%s", how);
    timer_cancel(&device->server->loop, &device->timer);
    worker_forget(device);
    device_next(device);
}

/* ---- The rest -------------------------------------------------------------------------------- */

void device_init(struct device *device, struct server *server, int index)
{
    *device = (struct device){.server = server, .index = index, .bell_queue = -1};
    device->worker.process.fd = -1;
    device->worker.link.fd = -1;
    name_bell(device->bell, server->options.instance, index);
}

void device_deinit(struct device *device)
{
    if (!device->server)
        return;
    if (device->worker.state != WORKER_NONE) {
        kill(device->worker.pid, SIGKILL);
        waitpid(device->worker.pid, NULL, 0);
    }
    timer_cancel(&device->server->loop, &device->timer);
    timer_cancel(&device->server->loop, &device->place_soon);
    timer_cancel(&device->server->loop, &device->grant_retry);
    worker_forget(device);
    if (device->bell_queue >= 0) {
        mq_unlink(device->bell);
        mq_close(device->bell_queue);
    }
    device->bell_queue = -1;
}

int device_bell_open(struct device *device, mode_t mode)
{
    struct mq_attr attr = {.mq_maxmsg = BELL_QUEUE_DEPTH, .mq_msgsize = BELL_MESSAGE_SIZE};

    device->bell_queue =
        mq_open(device->bell, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode, &attr);
    /* The umask does not know who is served. */
    return device->bell_queue < 0 || fchmod(device->bell_queue, mode) < 0 ? -errno : 0;
}

void device_quit(struct device *device)
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

void device_renew(struct device *device)
{
    if (!device->worker.needs_recycling || device->worker.state != WORKER_READY ||
        device->sessions || device->server->phase != PHASE_SERVING)
        return;
    log_info("device %d: worker %d has no sessions and is replaced: its driver keeps the memory of "
             "each set of SMs that it has made",
             device->index, (int)device->worker.pid);
    device_quit(device);
}

bool device_usable(const struct device *device)
{
    return device->worker.state == WORKER_READY || device->failures < FAILURES_MAX;
}

uint64_t device_memory_used(const struct device *device)
{
    const struct registry *registry = &device->server->registry;
    uint64_t used = 0;

    for (struct session *t = NULL; device->worker.stats && (t = registry_next(registry, t));) {
        if (t->device == device)
            used += atomic_load_explicit(&device->worker.stats[t->slot].memory_used,
                                         memory_order_relaxed);
    }
    return used;
}
