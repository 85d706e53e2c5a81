/* process.c - see process.h. */
#include "server/workers/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/session/close.h"
#include "server/state/server.h"
#include "server/workers/ending.h"
#include "server/workers/messages.h"

#define START_NS       60000000000u /* a driver's first initialisation can take long */
#define RESTART_MIN_NS 100000000u
#define RESTART_MAX_NS 10000000000u
#define STATS_BYTES    (LINK_SLOTS_MAX * sizeof(struct link_stats))

/* ---- Starting -------------------------------------------------------------------------------- */

/* Runs in the child: brings descriptors to their places, then executes the worker's own program. */
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
    /* Neither descriptor may stand where the other one goes. */
    link = fcntl(link, F_DUPFD_CLOEXEC, LINK_STATS_FD + 1);
    stats = fcntl(stats, F_DUPFD_CLOEXEC, LINK_STATS_FD + 1);
    if (dup2(link, LINK_FD) < 0 || dup2(stats, LINK_STATS_FD) < 0)
        _exit(126);
    execv("/proc/self/exe", arguments);
    _exit(127);
}

/* Makes the page of figures that the worker writes and the supervisor reads. It is sealed, so that
 * nobody can cut it short. */
static int stats_make(struct device *device)
{
    void *at;
    int fd;

    if (device->stats)
        return 0;
    fd = memfd_create("gshare-stats", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, STATS_BYTES) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ||
        (at = mmap(NULL, STATS_BYTES, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED) {
        int error = errno;
        close(fd);
        return -error;
    }
    device->stats = at;
    device->stats_fd = fd;
    return 0;
}

/* Forgets all of a worker that has been reaped, or that never came to be. */
static void worker_forget(struct device *device)
{
    struct worker_process *worker = &device->worker;
    int process = worker->process.fd;

    watch_remove(&device->server->loop, &worker->process);
    if (process >= 0)
        close(process);
    worker_link_deinit(device);
    segment_pool_clear(&device->segments);
    *worker = (struct worker_process){.process.fd = -1, .link.fd = -1};
}

static void worker_process_ready(struct watch *watch, uint32_t events);

/* Makes all that a worker needs and forks it. 0 or -errno; what was made is the caller's to forget.
 */
static int worker_spawn(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct loop *loop = &device->server->loop;
    CLEANUP_FD int theirs = -1;
    int pair[2], process, r;
    pid_t supervisor = getpid();

    r = stats_make(device);
    if (r < 0)
        return r;
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
        worker_exec(device, theirs, device->stats_fd, supervisor);
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

/* ---- Restarting ------------------------------------------------------------------------------ */

static void restart_fire(struct timer *timer)
{
    worker_start(container_of(timer, struct device, timer));
}

/* The worker is gone, and reaped: the next one starts at once where tenants wait for it and nothing
 * says that it will fail too, else after a pause. */
static void worker_next(struct device *device)
{
    struct server *server = device->server;
    uint64_t pause = RESTART_MIN_NS;

    switch (server->phase) {
    case PHASE_STARTING:
        server_fail(server, "device %d: %s", device->index, device->failure);
        return;
    case PHASE_STOPPING:
    case PHASE_ENDED:
        return;
    case PHASE_DRAINING:
    case PHASE_SERVING:
        break;
    }
    if (device->failures >= DEVICE_FAILURES_MAX) {
        for (struct session *s = NULL; (s = registry_next(&server->registry, s));) {
            if (s->device == device && s->state == SESSION_WAITING)
                server_session_refuse(s, GS_ERR_NO_DEVICE, device->failure);
        }
    }
    if (device->failures == 0 && device->resuming) {
        worker_start(device);
        return;
    }
    for (uint32_t i = 1; i < device->failures && pause < RESTART_MAX_NS; i++)
        pause *= 2;
    if (pause > RESTART_MAX_NS)
        pause = RESTART_MAX_NS;
    timer_set(&server->loop, &device->timer, clock_ns() + pause, restart_fire);
}

static void start_deadline(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, timer);

    worker_fail(device, NULL, LINK_SLOT_NONE, "the worker was not ready within %u s",
                (unsigned)(START_NS / 1000000000u));
}

void worker_start(struct device *device)
{
    int r;

    worker_forget(device);
    r = worker_spawn(device);
    if (r < 0) {
        snprintf(device->failure, sizeof(device->failure), "starting a worker: %s", strerror(-r));
        log_error("device %d: %s", device->index, device->failure);
        worker_forget(device);
        device->failures++;
        worker_next(device);
        return;
    }
    device->worker.state = WORKER_STARTING;
    timer_set(&device->server->loop, &device->timer, clock_ns() + START_NS, start_deadline);
    log_debug("device %d: worker %d started", device->index, (int)device->worker.pid);
}

/* ---- The end --------------------------------------------------------------------------------- */

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
    worker_fail(device, NULL, LINK_SLOT_NONE, "%s", how);
    timer_cancel(&device->server->loop, &device->timer);
    worker_forget(device);
    worker_next(device);
}

static void stats_free(struct device *device)
{
    if (!device->stats)
        return;
    munmap(device->stats, STATS_BYTES);
    close(device->stats_fd);
    device->stats = NULL;
}

void worker_kill(struct device *device)
{
    if (device->worker.state != WORKER_NONE) {
        kill(device->worker.pid, SIGKILL);
        waitpid(device->worker.pid, NULL, 0);
    }
    worker_forget(device);
    stats_free(device);
}
