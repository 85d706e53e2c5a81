/* metrics_process.c - see metrics_process.h. */
#include "server/metrics_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/descriptors.h"
#include "server/base/out_of_memory.h"
#include "server/log_file.h"
#include "server/state/server.h"

#define READY_MS         10000
#define STOP_NS          UINT64_C(1000000000)
#define IN_USE_NS        UINT64_C(2000000000) /* a former server's gsctl may be about to end */
/* The delay before gsctl is started again doubles each time, unless gsctl has served for as long.
 */
#define DELAY_LEAST_S    1u
#define DELAY_MOST_S     60u
#define SERVES           "serves "
#define PROGRAM_SAYS     "gsctl: "
#define WATCHER_LEAST_NS UINT64_C(1000000000)

static char program[PATH_MAX + 8]; /* gsctl's path, found before an upgrade replaces this program */

static void pause_ns(uint64_t ns)
{
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)}, NULL);
}

/* ---- The watcher ----------------------------------------------------------------------------- */

static const char *log_file; /* the file that the signal handler opens again */

/* The watcher has a table of descriptors of its own, so it opens the log for itself. */
static void hangup(int signal)
{
    const int saved = errno;
    int fd = log_file_open(log_file);

    (void)signal;
    if (fd >= 0)
        log_file_use(fd);
    errno = saved;
}

static _Noreturn void program_execute(const struct server_options *options, pid_t parent, int says)
{
    char *arguments[] = {"gsctl",      "metrics",
                         "--instance", (char *)(uintptr_t)options->instance,
                         "--listen",   (char *)(uintptr_t)options->metrics,
                         NULL};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(says, STDERR_FILENO);
    execv(program, arguments);
    dprintf(STDERR_FILENO, "%s: %s\n", program, strerror(errno));
    _exit(EXIT_FAILURE);
}

/* Tells the keeper that gsctl serves, or why not, if the keeper still waits for it. */
static void ready_tell(int *ready, const char *word)
{
    if (*ready < 0)
        return;
    ssize_t n = write(*ready, word, strlen(word));
    (void)n;
    close(*ready);
    *ready = -1;
}

/* Runs gsctl to its end. Sets `why` to the reason that gsctl gave for ending. */
static void program_run(const struct server_options *options, int *ready,
                        char why[METRICS_ERROR_MAX])
{
    const pid_t watcher = getpid();
    int ends[2] = {-1, -1};
    char line[METRICS_ERROR_MAX];
    FILE *says = NULL;
    pid_t pid = -1;
    int status;

    why[0] = 0;
    if (pipe2(ends, O_CLOEXEC) == 0 && (pid = fork()) == 0)
        program_execute(options, watcher, ends[1]);
    if (pid > 0)
        says = fdopen(ends[0], "r");
    close(ends[1]);
    if (!says) {
        snprintf(why, METRICS_ERROR_MAX, "starting %.150s: %.80s", program, strerror(errno));
        close(ends[0]);
    }
    while (says && fgets(line, sizeof(line), says)) {
        const char *text = line;

        line[strcspn(line, "\n")] = 0;
        if (!strncmp(text, PROGRAM_SAYS, strlen(PROGRAM_SAYS)))
            text += strlen(PROGRAM_SAYS);
        if (!strncmp(text, SERVES, strlen(SERVES))) {
            log_info("event=metrics process=%d url=%s", (int)pid, text + strlen(SERVES));
            ready_tell(ready, SERVES);
        } else if (!why[0]) {
            snprintf(why, METRICS_ERROR_MAX, "%s", text);
        }
    }
    if (says)
        fclose(says);
    if (pid > 0 && waitpid(pid, &status, 0) == pid && !why[0])
        snprintf(why, METRICS_ERROR_MAX,
                 WIFSIGNALED(status) ? "it was killed by signal %d" : "it ended with status %d",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static _Noreturn void watcher_run(const struct server_options *options, int *ready)
{
    const uint64_t patience = clock_ns() + IN_USE_NS;
    unsigned delay_s = DELAY_LEAST_S;
    char why[METRICS_ERROR_MAX];

    for (;;) {
        const uint64_t began = clock_ns();

        program_run(options, ready, why);
        if (*ready >= 0 && strstr(why, strerror(EADDRINUSE)) && clock_ns() < patience) {
            pause_ns(50000000);
            continue;
        }
        if (*ready >= 0) {
            ready_tell(ready, why);
            _exit(EXIT_FAILURE);
        }
        if (clock_ns() - began > DELAY_MOST_S * UINT64_C(1000000000))
            delay_s = DELAY_LEAST_S;
        log_warning(
            "event=metrics-lost program=%s seconds=%u reason=\"%s; it is started again in %u s\"",
            program, delay_s, why, delay_s);
        pause_ns(delay_s * UINT64_C(1000000000));
        delay_s = delay_s * 2 < DELAY_MOST_S ? delay_s * 2 : DELAY_MOST_S;
    }
}

static void descriptor_close(int fd, const void *but)
{
    if (fd != *(const int *)but)
        close(fd);
}

/* Drops the descriptors and the signal mask that the watcher inherited from the keeper. The watcher
 * has its own process group, so that a terminal's signals do not reach it. */
static void watcher_begin(const struct server_options *options, pid_t keeper, int ready)
{
    struct sigaction action = {.sa_handler = hangup, .sa_flags = SA_RESTART};
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "gshared-metrics"); /* the name that ps shows */
    if (getppid() != keeper)
        _exit(EXIT_FAILURE);
    setpgid(0, 0);
    out_of_memory_spare_not(0);
    descriptors_visit(descriptor_close, &ready);
    log_file = options->log_file;
    if (!log_file)
        action.sa_handler = SIG_IGN;
    sigaction(SIGHUP, &action, NULL);
    log_warnings_also(-1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- The keeper ------------------------------------------------------------------------------ */

/* Finds gsctl, which is installed beside gshared. */
static void program_find(void)
{
    const ssize_t n = readlink("/proc/self/exe", program, PATH_MAX);
    char *name;

    program[n > 0 ? n : 0] = 0;
    name = strrchr(program, '/');
    strcpy(name ? name + 1 : program, "gsctl");
}

/* Forks the watcher, with a copy of the table of descriptors. Into `ready` the watcher writes once
 * that gsctl serves, or why not; -1: nowhere. */
static bool watcher_start(struct metrics_process *metrics, const struct server_options *options,
                          int ready)
{
    const pid_t keeper = getpid(), pid = fork();

    if (pid == 0) {
        watcher_begin(options, keeper, ready);
        watcher_run(options, &ready);
    }
    if (pid < 0)
        return false;
    setpgid(pid, pid); /* the child does the same: either may run first */
    metrics->started_ns = clock_ns();
    atomic_store_explicit(&metrics->pid, pid, memory_order_release);
    return true;
}

/* Reads the watcher's word. Returns false if gsctl does not serve; `error` has the reason, or says
 * that no word came. */
static bool word_await(int ready, char error[METRICS_ERROR_MAX])
{
    struct pollfd word = {ready, POLLIN, 0};
    ssize_t n;

    if (poll(&word, 1, READY_MS) <= 0) {
        snprintf(error, METRICS_ERROR_MAX, "%.200s does not say that it serves", program);
        return false;
    }
    n = read(ready, error, METRICS_ERROR_MAX - 1);
    error[n > 0 ? n : 0] = 0;
    return !strcmp(error, SERVES);
}

bool metrics_process_begin(struct metrics_process *metrics, const struct server_options *options,
                           char error[METRICS_ERROR_MAX])
{
    int ends[2];
    bool good;

    if (!options->metrics[0])
        return true;
    program_find();
    if (pipe2(ends, O_CLOEXEC) < 0) {
        snprintf(error, METRICS_ERROR_MAX, "%s", strerror(errno));
        return false;
    }
    good = watcher_start(metrics, options, ends[1]);
    if (!good)
        snprintf(error, METRICS_ERROR_MAX, "starting a process: %s", strerror(errno));
    close(ends[1]);
    good = good && word_await(ends[0], error);
    close(ends[0]);
    if (!good)
        metrics_process_stop(metrics);
    return good;
}

void metrics_process_restart(struct metrics_process *metrics, const struct server_options *options)
{
    metrics_process_stop(metrics);
    if (!options->metrics[0])
        return;
    program_find();
    if (!watcher_start(metrics, options, -1))
        log_error("event=metrics-lost reason=\"starting a process: %s\"", strerror(errno));
}

void metrics_process_reaped(struct metrics_process *metrics, const struct server_options *options,
                            pid_t pid)
{
    if (pid != atomic_load_explicit(&metrics->pid, memory_order_relaxed))
        return;
    metrics_process_stop(metrics);
    if (clock_ns() - metrics->started_ns < WATCHER_LEAST_NS || !watcher_start(metrics, options, -1))
        log_error("event=metrics-lost program=%s process=%d reason=\"the process that watches it "
                  "has ended: nobody serves them any more\"",
                  program, (int)pid);
    else
        log_warning("event=metrics-lost program=%s process=%d reason=\"the process that watches it "
                    "was killed: another takes its place\"",
                    program, (int)pid);
}

void metrics_process_hangup(const struct metrics_process *metrics)
{
    const pid_t pid = atomic_load_explicit(&metrics->pid, memory_order_relaxed);

    if (pid > 0)
        kill(pid, SIGHUP);
}

/* gsctl becomes the keeper's child when the watcher ends, and stays in its group. */
void metrics_process_stop(struct metrics_process *metrics)
{
    const pid_t pid = atomic_load_explicit(&metrics->pid, memory_order_relaxed);

    if (pid <= 0)
        return;
    kill(-pid, SIGKILL);
    while (waitpid(-pid, NULL, 0) > 0 || errno == EINTR)
        ;
    atomic_store_explicit(&metrics->pid, 0, memory_order_release);
}

/* ---- The supervisor -------------------------------------------------------------------------- */

void metrics_process_await_stop(const struct metrics_process *metrics)
{
    const uint64_t until = clock_ns() + STOP_NS;

    if (atomic_load_explicit(&metrics->pid, memory_order_acquire) == 0)
        return;
    kill(getppid(), SIGCHLD); /* wakes the keeper */
    while (atomic_load_explicit(&metrics->pid, memory_order_acquire) != 0 && clock_ns() < until)
        pause_ns(1000000);
}
