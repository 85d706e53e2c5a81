/* tenant.c - processes that a test starts, and what they wait on. Runs in the test's process. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "internal.h"

#define JOIN_SECONDS 60u
#define GATE_MS      30000u

/* Threads of this process. */
static unsigned thread_count(void)
{
    struct stat st;

    return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 1;
}

pid_t tenant_start(void (*body)(void *), void *argument)
{
    pid_t parent = getpid(), pid;
    bool threads = thread_count() > 1;

    fflush(stdout);
    test_random(); /* each tenant's stream of numbers is another one */
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        test_random_split();
        body(argument);
        fflush(stdout);
        if (threads)
            _exit(0); /* what exit() would run may hold a lock of a thread that is not here */
        exit(0);
    }
    if (pid < 0)
        test_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
    return pid;
}

int tenant_wait(pid_t pid, unsigned seconds)
{
    int status;

    if (!process_wait_end(pid, test_deadline(seconds * 1000)))
        test_fail(__FILE__, __LINE__, "tenant %d did not end within %u s", (int)pid, seconds);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            test_fail(__FILE__, __LINE__, "waitpid of tenant %d: %s", (int)pid, strerror(errno));
    }
    return status;
}

void tenant_join(pid_t pid)
{
    int status = tenant_wait(pid, JOIN_SECONDS);

    if (WIFSIGNALED(status))
        test_fail(__FILE__, __LINE__, "tenant %d ended by signal %d (%s)", (int)pid,
                  WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        test_fail(__FILE__, __LINE__, "tenant %d ended with status %d", (int)pid,
                  WEXITSTATUS(status));
}

void tenant_kill(pid_t pid, int signal)
{
    kill(pid, signal);
    tenant_wait(pid, JOIN_SECONDS);
}

/* Release on the count, acquire at the waiter's load: what a process wrote before it passed, those
 * who waited for it see. */
void gate_pass(struct gate *gate)
{
    atomic_fetch_add_explicit(&gate->count, 1, memory_order_release);
    futex_wake(&gate->count);
}

void gate_wait(struct gate *gate, uint32_t count)
{
    uint64_t deadline = test_deadline(GATE_MS);
    uint32_t now;

    while ((now = atomic_load_explicit(&gate->count, memory_order_acquire)) < count) {
        if (clock_ns() > deadline)
            test_fail(__FILE__, __LINE__, "%u of %u processes at the gate after %u ms", now, count,
                      GATE_MS);
        futex_wait(&gate->count, now, 100000000u);
    }
}
