/* signals.c - see signals.h. */
#include "server/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/log_event.h"
#include "common/util.h"
#include "server/keeper.h"
#include "server/log_file.h"
#include "server/policy_file.h"

static void log_reopen(const char *path)
{
    int fd = log_file_open(path);

    if (fd < 0) {
        log_error("event=log-failed file=%s reason=%s", path, strerror(errno));
        return;
    }
    log_file_use(fd);
    log_info("event=log-reopened file=%s", path);
}

/* Returns whether the process still has its terminal. A server in the foreground ends with its
 * terminal, unless it logs to a file. A hangup takes the terminal away from the process before it
 * sends SIGHUP; a SIGHUP from `kill` does not. */
static bool terminal_has(void)
{
    CLEANUP_FD int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

    return fd >= 0;
}

static void hangup(struct server *server)
{
    if (server->options.log_file)
        log_reopen(server->options.log_file);
    if (!server->options.log_file && !server->options.policy_file)
        log_info(
            "event=hangup reason=\"there is no log file to reopen and no policy file to read\"");
    policy_file_reload(server);
}

/* Ends the server after the keeper was killed. Clients have seen that already, and only this
 * process is left to end stopped workers. */
static _Noreturn void keeper_gone(const struct server *server)
{
    log_error("event=keeper-lost keeper=%d reason=\"it was killed: ending\"",
              server->status.page->server_pid);
    server_kill_all(server);
    _exit(EXIT_FAILURE);
}

static void signals_ready(struct watch *watch, uint32_t events)
{
    struct server *server = container_of(watch, struct server, signals);
    struct signalfd_siginfo info;

    (void)events;
    if (read(watch->fd, &info, sizeof(info)) != sizeof(info))
        return;
    if (info.ssi_signo == KEEPER_GONE) {
        if (getppid() != server->status.page->server_pid)
            keeper_gone(server);
        return;
    }
    if (info.ssi_signo == SIGHUP && (!server->terminal || terminal_has())) {
        hangup(server);
        return;
    }
    /* A terminal's signals (Ctrl-C) come from the kernel, which names the user 0. */
    log_info("event=signal signal=%s by=%s by_pid=%u", sigabbrev_np((int)info.ssi_signo),
             info.ssi_code == SI_KERNEL ? "terminal" : log_user_name(info.ssi_uid), info.ssi_pid);
    server_drain(server, 0);
}

int signals_init(struct server *server)
{
    sigset_t set;
    int fd, r;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, KEEPER_GONE);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    signal(SIGPIPE, SIG_IGN);
    fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    server->terminal = !server->options.background && !server->options.log_file && terminal_has();
    r = watch_add(&server->loop, &server->signals, fd, EPOLLIN, signals_ready);
    if (r < 0)
        close(fd);
    return r;
}
