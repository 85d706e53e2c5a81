/* service.c - gshared, started and ended for a cell; see service.h. */
#include "lib/service.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "common/names.h"
#include "common/util.h"

#define READY_NS (20ull * 1000000000u)
#define STOP_NS  (10ull * 1000000000u)

/* A socket on which the server says READY=1, as it does to systemd; the kernel chooses its name in
 * the abstract space. */
static int ready_socket(char name[64])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t size = sizeof(address);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0) {
        close(fd);
        return -1;
    }
    snprintf(name, 64, "@%.*s", (int)(size - offsetof(struct sockaddr_un, sun_path) - 1),
             address.sun_path + 1);
    return fd;
}

static void __attribute__((noreturn))
server_exec(const struct server *server, const char *program, const char *device,
            const char *const *options, const char *log, const char *notify)
{
    const char *argv[7 + SERVER_OPTIONS_MAX] = {program,          "-f",       "--instance",
                                                server->instance, "--device", device};
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(127);
    setenv("NOTIFY_SOCKET", notify, 1);
    setenv("GSHARE_CACHE", "none", 0); /* each run compiles what it loads */
    for (int i = 0; options != NULL && options[i] != NULL && i < SERVER_OPTIONS_MAX; i++)
        argv[6 + i] = options[i];
    execv(program, (char *const *)argv);
    fprintf(stderr, "cannot run %s: %s\n", program, strerror(errno));
    _exit(127);
}

/* Waits for READY=1 on the socket, or the process's end. */
static bool ready_await(pid_t pid, int socket)
{
    CLEANUP_FD int process = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p[2] = {{.fd = socket, .events = POLLIN}, {.fd = process, .events = POLLIN}};
    uint64_t deadline = clock_ns() + READY_NS;

    while (clock_ns() < deadline) {
        char text[512];
        ssize_t n;

        if (poll(p, 2, 100) <= 0)
            continue;
        n = recv(socket, text, sizeof(text) - 1, MSG_DONTWAIT);
        if (n > 0) {
            text[n] = '\0';
            if (strstr(text, "READY=1") != NULL)
                return true;
        }
        if (p[1].revents != 0)
            return false;
    }
    return false;
}

bool server_start(struct server *server, const char *program, const char *device,
                  const char *const *options, const char *log, char *text, size_t size)
{
    static unsigned started;
    char notify[64];

    server->socket = ready_socket(notify);
    if (server->socket < 0) {
        snprintf(text, size, "a socket for gshared's READY: %s", strerror(errno));
        return false;
    }
    snprintf(server->instance, sizeof(server->instance), "bench-%d-%u", (int)getpid(), started++);
    fflush(NULL);
    server->pid = fork();
    if (server->pid == 0)
        server_exec(server, program, device, options, log, notify);
    if (server->pid < 0) {
        server->pid = 0;
        close(server->socket);
        snprintf(text, size, "fork: %s", strerror(errno));
        return false;
    }
    setpgid(server->pid, server->pid);
    if (!ready_await(server->pid, server->socket)) {
        char why[128];

        server_stop(server, why, sizeof(why));
        snprintf(text, size, "gshared did not get ready, see %.180s", log);
        return false;
    }
    setenv("GSHARE_INSTANCE", server->instance, 1);
    return true;
}

static bool process_ends(pid_t pid, uint64_t timeout_ns)
{
    CLEANUP_FD int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    uint64_t deadline = clock_ns() + timeout_ns;

    while (clock_ns() < deadline) {
        if (poll(&p, 1, 100) > 0)
            return true;
    }
    return false;
}

/* A killed server leaves its queues. */
static void queues_remove(const char *instance)
{
    char name[WIRE_NAME_MAX];

    name_control(name, geteuid(), instance);
    mq_unlink(name);
    name_lock(name, geteuid(), instance);
    mq_unlink(name);
    for (int device = 0; device < 8; device++) {
        name_bell(name, geteuid(), instance, device);
        mq_unlink(name);
    }
}

bool server_stop(struct server *server, char *text, size_t size)
{
    int status = 0;
    bool asked;

    if (server->pid == 0)
        return true;
    kill(server->pid, SIGTERM);
    asked = process_ends(server->pid, STOP_NS);
    if (!asked)
        kill(server->pid, SIGKILL);
    while (waitpid(server->pid, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-server->pid, SIGKILL); /* workers, if it left any */
    while (waitpid(-server->pid, NULL, 0) > 0)
        ;
    server->pid = 0;
    close(server->socket);
    if (asked && status == 0)
        return true;
    queues_remove(server->instance);
    if (asked)
        snprintf(text, size, "gshared ended with wait status %#x", (unsigned)status);
    else
        snprintf(text, size, "gshared did not end when asked, and was killed");
    return false;
}
