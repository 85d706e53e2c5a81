/* spawn.c - see spawn.h. */
#include "server/workers/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util.h"
#include "server/base/out_of_memory.h"
#include "server/state/server.h"

#define STATS_BYTES (LINK_SLOTS_MAX * sizeof(struct link_stats))

/* Descriptor numbers from here on have no meaning for the worker. */
#define DESCRIPTORS_FREE (LINK_CODE_FD + 1)

/* Makes memory that the device's workers share, and seals its size. Returns its descriptor or
 * -errno. */
static int memory_make(const char *name, uint64_t size)
{
    int error, fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)size) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    error = errno;
    close(fd);
    return -error;
}

/* Makes the memory of figures that the worker writes and the supervisor reads. Returns 0 or
 * -errno. */
static int stats_make(struct device *device)
{
    if (device->stats)
        return 0;
    if (device->stats_fd < 0)
        device->stats_fd = memory_make("gshare-stats", STATS_BYTES);
    return device->stats_fd < 0 ? device->stats_fd : worker_stats_restore(device);
}

/* Makes the memory for machine code, which the supervisor does not read. Returns 0 or -errno. */
static int code_make(struct device *device)
{
    if (device->code_fd < 0)
        device->code_fd = memory_make("gshare-code", LINK_CODE_BYTES);
    return device->code_fd < 0 ? device->code_fd : 0;
}

int worker_stats_restore(struct device *device)
{
    void *at;

    device->stats = NULL;
    if (device->stats_fd < 0)
        return 0;
    at = mmap(NULL, STATS_BYTES, PROT_READ, MAP_SHARED, device->stats_fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    device->stats = at;
    return 0;
}

void worker_memory_free(struct device *device)
{
    if (device->stats)
        munmap(device->stats, STATS_BYTES);
    if (device->stats_fd >= 0)
        close(device->stats_fd);
    if (device->code_fd >= 0)
        close(device->code_fd);
    device->stats = NULL;
    device->stats_fd = device->code_fd = -1;
}

/* Starts this executable as the device's worker, with the descriptors at the numbers that it
 * expects. Uses posix_spawn, since a fork would copy the supervisor's page tables while everybody
 * waits. Returns 0 or an error number. */
static int execute(const struct device *device, int link, int stats, int code, pid_t *pid)
{
    char number[16];
    char *arguments[] = {"gshared",
                         "--worker",
                         number,
                         (char *)(uintptr_t)device->server->options.kind,
                         (char *)(uintptr_t)device->bell,
                         (char *)(uintptr_t)device->server->options.cache,
                         NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t blocked;
    int r;

    snprintf(number, sizeof(number), "%d", device->index);
    /* A terminal's or a service manager's signals wait until the worker ignores them. */
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGHUP);
    r = posix_spawn_file_actions_init(&actions);
    if (r)
        return r;
    r = posix_spawnattr_init(&attributes);
    if (r == 0) {
        posix_spawnattr_setsigmask(&attributes, &blocked);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        r = posix_spawn_file_actions_adddup2(&actions, link, LINK_FD);
        if (r == 0)
            r = posix_spawn_file_actions_adddup2(&actions, stats, LINK_STATS_FD);
        if (r == 0)
            r = posix_spawn_file_actions_adddup2(&actions, code, LINK_CODE_FD);
        if (r == 0)
            r = posix_spawn(pid, "/proc/self/exe", &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return r;
}

int worker_spawn(struct device *device, struct child *child)
{
    CLEANUP_FD int theirs = -1;
    CLEANUP_FD int ours = -1;
    CLEANUP_FD int link = -1;
    CLEANUP_FD int stats = -1;
    CLEANUP_FD int code = -1;
    int pair[2], process, r;
    pid_t pid;

    r = stats_make(device);
    if (r == 0)
        r = code_make(device);
    if (r < 0)
        return r;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    ours = pair[0];
    theirs = pair[1];
    /* Descriptors move above the child's numbers, so that no dup2 there overwrites one of them. */
    link = fcntl(theirs, F_DUPFD_CLOEXEC, DESCRIPTORS_FREE);
    stats = fcntl(device->stats_fd, F_DUPFD_CLOEXEC, DESCRIPTORS_FREE);
    code = fcntl(device->code_fd, F_DUPFD_CLOEXEC, DESCRIPTORS_FREE);
    if (link < 0 || stats < 0 || code < 0 || fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    r = execute(device, link, stats, code, &pid);
    if (r)
        return -r;
    orphan_remove(&device->server->reaper.orphans, pid);
    out_of_memory_spare_not(pid);
    process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) {
        r = -errno;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return r;
    }
    *child = (struct child){.pid = pid, .process.fd = process, .link.fd = ours};
    ours = -1;
    return 0;
}
