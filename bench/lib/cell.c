/* cell.c - see cell.h. */
#include "lib/cell.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/util.h"
#include "lib/stats.h"

struct plan plan;
volatile bool cell_interrupted;

static struct board *board;
static char *failure_place;

/* ---- Inside a measurement -------------------------------------------------------------------- */

void cell_failure_place(char place[FAILURE_TEXT_MAX])
{
    failure_place = place;
}

void cell_fail(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(failure_place, FAILURE_TEXT_MAX, format, ap);
    va_end(ap);
    _exit(EXIT_FAILURE);
}

void cell_metric(double value, const char *format, ...)
{
    struct metric *m;
    va_list ap;

    if (board->count == METRICS_MAX)
        cell_fail("more than %d results", METRICS_MAX);
    m = &board->metric[board->count++];
    va_start(ap, format);
    vsnprintf(m->name, sizeof(m->name), format, ap);
    va_end(ap);
    m->value = value;
}

void cell_summary(double *samples, size_t count, const char *name)
{
    struct summary s = stats_summarise(samples, count);

    cell_metric(s.p50, "%s_p50", name);
    cell_metric(s.p99, "%s_p99", name);
    cell_metric(s.max, "%s_max", name);
    cell_metric((double)s.count, "%s_n", name);
}

void cell_note(const char *format, ...)
{
    size_t used = strlen(board->notes);
    va_list ap;

    va_start(ap, format);
    vsnprintf(board->notes + used, sizeof(board->notes) - used, format, ap);
    va_end(ap);
    used = strlen(board->notes);
    snprintf(board->notes + used, sizeof(board->notes) - used, "\n");
}

void *cell_shared(size_t size)
{
    void *at = shared_map(size);

    if (at == NULL)
        cell_fail("mapping %zu bytes of shared memory: %s", size, strerror(errno));
    return at;
}

void cell_sleep_until(uint64_t ns)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
                                  .tv_nsec = (long)(ns % 1000000000u)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* ---- For the runner -------------------------------------------------------------------------- */

void *shared_map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static void __attribute__((noreturn)) cell_main(void (*measure)(void), pid_t runner)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != runner)
        _exit(EXIT_FAILURE);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    measure();
    _exit(EXIT_SUCCESS);
}

/* Whether the process has ended before the deadline. */
static bool end_await(pid_t pid, uint64_t deadline)
{
    CLEANUP_FD int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};

    while (!cell_interrupted) {
        uint64_t now = clock_ns();

        if (now >= deadline)
            return false;
        if (poll(&p, 1, (int)((deadline - now) / 1000000 + 1)) > 0)
            return true;
    }
    return false;
}

/* Kills what is left of the group and waits until it is gone: its GPU memory is free again then.
 * The runner is a subreaper, so tenants whose parent died are its children. */
static void group_end(pid_t group)
{
    kill(-group, SIGKILL);
    while (waitpid(-group, NULL, 0) > 0 || errno == EINTR)
        ;
}

static void outcome_note(struct board *b, bool ended, int status, unsigned timeout_s)
{
    if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (b->failure[0] != '\0')
        return;
    if (cell_interrupted)
        snprintf(b->failure, sizeof(b->failure), "interrupted");
    else if (!ended)
        snprintf(b->failure, sizeof(b->failure), "not finished after %u s", timeout_s);
    else if (WIFSIGNALED(status))
        snprintf(b->failure, sizeof(b->failure), "ended by signal %d", WTERMSIG(status));
    else
        snprintf(b->failure, sizeof(b->failure), "ended with exit status %d", WEXITSTATUS(status));
}

struct board *cell_run(void (*measure)(void), unsigned timeout_s)
{
    uint64_t start = clock_ns();
    pid_t runner = getpid(), pid;
    int status = 0;
    bool ended;

    board = shared_map(sizeof(*board));
    if (board == NULL)
        return NULL;
    failure_place = board->failure;
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        cell_main(measure, runner);
    if (pid < 0) {
        snprintf(board->failure, sizeof(board->failure), "fork: %s", strerror(errno));
        return board;
    }
    setpgid(pid, pid);
    ended = end_await(pid, start + timeout_s * 1000000000ull);
    if (!ended)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    group_end(pid);
    outcome_note(board, ended, status, timeout_s);
    board->seconds = (double)(clock_ns() - start) / 1e9;
    return board;
}

void board_free(struct board *b)
{
    if (b != NULL)
        munmap(b, sizeof(*b));
}

const double *board_find(const struct board *b, const char *name)
{
    for (unsigned i = 0; b != NULL && i < b->count; i++) {
        if (strcmp(b->metric[i].name, name) == 0)
            return &b->metric[i].value;
    }
    return NULL;
}
