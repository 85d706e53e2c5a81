/* syscall_steps.c - see syscall_steps.h. */
#include "syscall_steps.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/harness.h"

#define SYSCALL_STOP (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD marks it */
#define BEGIN_MS     5000u

static const struct {
    long number;
    const char *name;
} calls[] = {
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_epoll_ctl, "epoll_ctl"},
    {SYS_epoll_create1, "epoll_create1"},
    {SYS_poll, "poll"},
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_openat, "openat"},
    {SYS_close, "close"},
    {SYS_fcntl, "fcntl"},
    {SYS_getdents64, "getdents64"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_sendto, "sendto"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_socketpair, "socketpair"},
    {SYS_mq_open, "mq_open"},
    {SYS_mq_unlink, "mq_unlink"},
    {SYS_mq_timedsend, "mq_timedsend"},
    {SYS_mq_timedreceive, "mq_timedreceive"},
    {SYS_mq_getsetattr, "mq_getsetattr"},
    {SYS_shmget, "shmget"},
    {SYS_shmat, "shmat"},
    {SYS_shmdt, "shmdt"},
    {SYS_shmctl, "shmctl"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_memfd_create, "memfd_create"},
    {SYS_timerfd_create, "timerfd_create"},
    {SYS_timerfd_settime, "timerfd_settime"},
    {SYS_signalfd4, "signalfd4"},
    {SYS_eventfd2, "eventfd2"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_pidfd_send_signal, "pidfd_send_signal"},
    {SYS_getrandom, "getrandom"},
    {SYS_futex, "futex"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_kill, "kill"},
    {SYS_getpid, "getpid"},
    {SYS_sched_getaffinity, "sched_getaffinity"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
};

static void name_call(char *out, size_t size, long number)
{
    for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
        if (calls[i].number == number) {
            snprintf(out, size, "%s", calls[i].name);
            return;
        }
    }
    snprintf(out, size, "system call %ld", number);
}

/* An exit does not say of which call: the entry before it did. */
static void stop_note(struct steps *steps)
{
    struct __ptrace_syscall_info info;
    char name[40];

    steps->stops++;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, steps->pid, (void *)sizeof(info), &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        name_call(name, sizeof(name), (long)info.entry.nr);
        snprintf(steps->last, sizeof(steps->last), "entry of %s", name);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && strncmp(steps->last, "entry of ", 9) == 0) {
        snprintf(name, sizeof(name), "%s", steps->last + strlen("entry of "));
        snprintf(steps->last, sizeof(steps->last), "return from %s", name);
    }
}

/* Waits for a change of the process; false: none in time. SIGCHLD, which each change sends, is
 * blocked while a process is traced. */
static bool change_await(pid_t pid, unsigned milliseconds, int *status)
{
    const uint64_t deadline = clock_ns() + milliseconds * UINT64_C(1000000);
    const struct timespec soon = {0, 1000000};
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        const pid_t got = waitpid(pid, status, __WALL | WNOHANG);

        if (got == pid)
            return true;
        if (got < 0 || clock_ns() >= deadline)
            return false;
        sigtimedwait(&child, NULL, &soon);
    }
}

static void child_signal(int how)
{
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(how, &child, NULL);
}

int steps_forbidden(void)
{
    const pid_t pid = fork();
    int error = 0;

    if (pid == 0) {
        for (;;)
            pause();
    }
    CHECK(pid > 0);
    if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD) < 0)
        error = errno;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    return error;
}

bool steps_begin(struct steps *steps, pid_t pid)
{
    int status;

    *steps = (struct steps){.pid = pid, .last = "the beginning"};
    child_signal(SIG_BLOCK);
    if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD) < 0) {
        if (errno == EPERM || errno == ESRCH) /* also of one that has not been reaped */
            return false;
        test_fail(__FILE__, __LINE__, "tracing process %d: %s", (int)pid, strerror(errno));
    }
    CHECK(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0);
    CHECK(change_await(pid, BEGIN_MS, &status) && WIFSTOPPED(status));
    return true;
}

void steps_follow(pid_t parent)
{
    child_signal(SIG_BLOCK);
    if (ptrace(PTRACE_SEIZE, parent, NULL,
               PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACESYSGOOD) < 0)
        test_fail(__FILE__, __LINE__, "tracing process %d: %s", (int)parent, strerror(errno));
}

/* The signal that the process has stopped for, 0 when it has for another reason. */
static int stop_signal(int status)
{
    const int signal = WSTOPSIG(status);

    return status >> 16 || signal == SYSCALL_STOP ? 0 : signal;
}

static bool stop_is_new_child(int status)
{
    return status >> 16 == PTRACE_EVENT_CLONE || status >> 16 == PTRACE_EVENT_FORK;
}

bool steps_follow_take(struct steps *steps, pid_t parent, unsigned milliseconds)
{
    const uint64_t deadline = test_deadline(milliseconds);
    unsigned long child = 0;
    int status;

    while (!child) {
        if (clock_ns() > deadline)
            return false;
        if (!change_await(parent, 10, &status))
            continue;
        if (!WIFSTOPPED(status))
            return false;
        if (stop_is_new_child(status))
            ptrace(PTRACE_GETEVENTMSG, parent, NULL, &child);
        else
            ptrace(PTRACE_CONT, parent, NULL, stop_signal(status));
    }
    ptrace(PTRACE_DETACH, parent, NULL, NULL);
    *steps = (struct steps){.pid = (pid_t)child, .last = "the beginning"};
    if (!change_await(steps->pid, BEGIN_MS, &status) || !WIFSTOPPED(status))
        return false;
    /* Its own children are not taken. */
    return ptrace(PTRACE_SETOPTIONS, steps->pid, NULL, PTRACE_O_TRACESYSGOOD) == 0;
}

enum step steps_next(struct steps *steps, unsigned milliseconds)
{
    int status;

    if (!steps->running)
        ptrace(PTRACE_SYSCALL, steps->pid, NULL, NULL);
    steps->running = true;
    while (change_await(steps->pid, milliseconds, &status)) {
        if (!WIFSTOPPED(status)) {
            *steps = (struct steps){0};
            return STEP_ENDED;
        }
        if (WSTOPSIG(status) == SYSCALL_STOP) {
            steps->running = false;
            stop_note(steps);
            return STEP_STOPPED;
        }
        ptrace(PTRACE_SYSCALL, steps->pid, NULL, stop_signal(status));
    }
    return STEP_RUNNING;
}

void steps_kill(struct steps *steps)
{
    int status;

    kill(steps->pid, SIGKILL);
    do {
        CHECK(change_await(steps->pid, BEGIN_MS, &status));
    } while (WIFSTOPPED(status));
    steps->pid = 0;
    child_signal(SIG_UNBLOCK);
}

void steps_end(struct steps *steps)
{
    int status = 0;

    if (steps->pid && steps->running) {
        ptrace(PTRACE_INTERRUPT, steps->pid, NULL, NULL);
        CHECK(change_await(steps->pid, BEGIN_MS, &status));
    }
    if (steps->pid)
        ptrace(PTRACE_DETACH, steps->pid, NULL, stop_signal(status));
    steps->pid = 0;
    child_signal(SIG_UNBLOCK);
}
