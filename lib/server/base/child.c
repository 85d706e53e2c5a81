/* child.c - see child.h. */
#include "server/base/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util.h"

/* The time in which the keeper, which waits for nothing else, notes a status. Meanwhile the event
 * loop calls again and again, since the pidfd stays readable. */
#define TOLD_NS 100000000u

/* ---- Descriptors ----------------------------------------------------------------------------- */

int child_watch(struct loop *loop, struct child *child, watch_ready *on_link,
                watch_ready *on_process)
{
    int r = 0;

    if (child->link.fd >= 0)
        r = watch_add(loop, &child->link, child->link.fd, EPOLLIN, on_link);
    if (r == 0)
        r = watch_add(loop, &child->process, child->process.fd, EPOLLIN, on_process);
    return r;
}

void child_move(struct loop *loop, struct child *from, struct child *to, watch_ready *on_link,
                watch_ready *on_process)
{
    to->pid = from->pid;
    to->said_ready = from->said_ready;
    to->said = from->said;
    if (from->link.fd >= 0)
        watch_move(loop, &from->link, &to->link, on_link);
    watch_move(loop, &from->process, &to->process, on_process);
    *from = (struct child)CHILD_NONE;
}

static void descriptor_close(struct loop *loop, struct watch *watch)
{
    const int fd = watch->fd;

    watch_remove(loop, watch);
    if (fd >= 0)
        close(fd);
}

void child_link_close(struct loop *loop, struct child *child)
{
    descriptor_close(loop, &child->link);
}

void child_close(struct loop *loop, struct child *child)
{
    descriptor_close(loop, &child->link);
    descriptor_close(loop, &child->process);
    *child = (struct child)CHILD_NONE;
}

/* ---- Processes ------------------------------------------------------------------------------- */

void child_signal(const struct child *child, int signal)
{
    syscall(SYS_pidfd_send_signal, child->process.fd, signal, NULL, 0);
}

/* Returns whether the pidfd is readable, which it is once the process has ended. */
static bool is_readable(const struct child *child, int timeout_ms)
{
    struct pollfd process = {child->process.fd, POLLIN, 0};

    return poll(&process, 1, timeout_ms) > 0;
}

int child_status(const siginfo_t *info)
{
    switch (info->si_code) {
    case CLD_EXITED:
        return W_EXITCODE(info->si_status, 0);
    case CLD_DUMPED:
        return W_EXITCODE(0, info->si_status) | WCOREFLAG;
    default:
        return W_EXITCODE(0, info->si_status);
    }
}

/* Sets *status to how an orphan has ended. Returns false if it has not, or if the keeper is about
 * to note it. */
static bool orphan_ended(struct child *child, struct orphans *orphans, int *status)
{
    const uint64_t now = clock_ns();

    if (!is_readable(child, 0))
        return false;
    if (!child->ended_ns)
        child->ended_ns = now;
    if (orphan_take(orphans, child->pid, status))
        return true;
    *status = CHILD_STATUS_UNKNOWN;
    return now - child->ended_ns > TOLD_NS;
}

bool child_ended(struct child *child, struct orphans *orphans, int *status)
{
    siginfo_t info = {0};

    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return orphan_ended(child, orphans, status);
    if (info.si_pid != child->pid)
        return false;
    *status = child_status(&info);
    return true;
}

void child_end(struct loop *loop, struct child *child)
{
    if (child->pid && child->process.fd >= 0) {
        child_signal(child, SIGKILL);
        if (waitpid(child->pid, NULL, 0) < 0 && errno == ECHILD)
            while (!is_readable(child, -1))
                continue;
    }
    child_close(loop, child);
}
