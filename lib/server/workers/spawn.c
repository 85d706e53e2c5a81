/* spawn.c - see spawn.h. */
#include "server/workers/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util.h"
#include "server/state/server.h"

#define STATS_BYTES (LINK_SLOTS_MAX * sizeof(struct link_stats))

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

void worker_stats_free(struct device *device)
{
    if (!device->stats)
        return;
    munmap(device->stats, STATS_BYTES);
    close(device->stats_fd);
    device->stats = NULL;
}

void spawned_discard(const struct spawned *spawned)
{
    kill(spawned->pid, SIGKILL);
    waitpid(spawned->pid, NULL, 0);
    close(spawned->link);
    close(spawned->process);
}

int worker_spawn(struct device *device, struct spawned *spawned)
{
    CLEANUP_FD int theirs = -1;
    CLEANUP_FD int ours = -1;
    int pair[2], process, r;
    const pid_t supervisor = getpid();
    pid_t pid;

    r = stats_make(device);
    if (r < 0)
        return r;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    ours = pair[0];
    theirs = pair[1];
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    pid = fork();
    if (pid == 0)
        worker_exec(device, theirs, device->stats_fd, supervisor);
    if (pid < 0)
        return -errno;
    process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) {
        r = -errno;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return r;
    }
    *spawned = (struct spawned){pid, ours, process};
    ours = -1;
    return 0;
}
