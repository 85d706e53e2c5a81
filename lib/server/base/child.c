/* child.c - see child.h. */
#include "server/base/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void child_signal(int pidfd, int signal)
{
    syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

/* A pidfd is readable once its process has ended. */
static bool ended(int pidfd, int timeout_ms)
{
    struct pollfd process = {pidfd, POLLIN, 0};

    return poll(&process, 1, timeout_ms) > 0;
}

bool child_reap(pid_t pid, int pidfd, int *status)
{
    const pid_t reaped = waitpid(pid, status, WNOHANG);

    if (reaped == pid)
        return true;
    if (reaped == 0 || !ended(pidfd, 0))
        return false;
    *status = CHILD_STATUS_UNKNOWN; /* no child of this process */
    return true;
}

void child_end(pid_t pid, int pidfd)
{
    child_signal(pidfd, SIGKILL);
    if (waitpid(pid, NULL, 0) < 0 && errno == ECHILD)
        while (!ended(pidfd, -1))
            continue;
}

void child_discard(int pidfd, int link)
{
    if (pidfd >= 0) {
        child_signal(pidfd, SIGKILL);
        close(pidfd);
    }
    if (link >= 0)
        close(link);
}
