/*
 * assembler_process.c - see assembler_process.h. Like the worker itself, the process is started
 * from the server's executable, which drops the rights that a compiler does not need and executes
 * ptxas (assembler_main): a fork would copy the worker's page tables.
 */
#include "worker/module/assembler_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util.h"
#include "worker/jobs/job.h"
#include "worker/module/assembler_sandbox.h"

enum { TEXT_FD = 3, CODE_FD = 4, DESCRIPTORS_FREE = 10 };

#define LOOK_MS 50 /* the interval of checks whether the session closes */

/* ---- Files in memory ------------------------------------------------------------------------- */

/* The descriptor is above those that the process will have, so that no dup2 replaces another file.
 */
int assembler_file_new(void)
{
    CLEANUP_FD int fd = memfd_create("gshare-ptxas", MFD_CLOEXEC);

    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTORS_FREE);
}

int assembler_file_with(const char *text, size_t size)
{
    const int fd = assembler_file_new();

    for (size_t at = 0; fd >= 0 && at < size;) {
        const ssize_t n = pwrite(fd, text + at, size - at, (off_t)at);
        if (n <= 0) {
            close(fd);
            return -1;
        }
        at += (size_t)n;
    }
    return fd;
}

char *assembler_file_read(int fd, size_t most, size_t *size)
{
    const off_t end = lseek(fd, 0, SEEK_END);
    const size_t all = end < 0 ? 0 : (size_t)end < most ? (size_t)end : most;
    char *bytes = malloc(all + 1);

    *size = 0;
    while (bytes && *size < all) {
        const ssize_t n = pread(fd, bytes + *size, all - *size, (off_t)*size);
        if (n <= 0)
            break;
        *size += (size_t)n;
    }
    if (bytes)
        bytes[*size] = '\0';
    return bytes;
}

/* ---- The process ----------------------------------------------------------------------------- */

int assembler_start(const char *path, char *const *given, int in, int out, int said, pid_t *pid)
{
    char self[16];
    char *arguments[4 + ASSEMBLER_ARGUMENTS_MOST + 1] = {"gshared", "--ptxas-run", self,
                                                         (char *)(uintptr_t)path};
    char *environment[] = {"PATH=/usr/bin:/bin", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int r = posix_spawn_file_actions_init(&actions);

    if (r)
        return r;
    snprintf(self, sizeof(self), "%d", (int)getpid());
    for (size_t i = 0; i < ASSEMBLER_ARGUMENTS_MOST && given[i]; i++)
        arguments[4 + i] = given[i];
    sigemptyset(&none);
    r = posix_spawnattr_init(&attributes);
    if (r == 0) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (r == 0 && in >= 0)
            r = posix_spawn_file_actions_adddup2(&actions, in, TEXT_FD);
        if (r == 0 && out >= 0)
            r = posix_spawn_file_actions_adddup2(&actions, out, CODE_FD);
        if (r == 0)
            r = posix_spawn_file_actions_adddup2(&actions, said, STDOUT_FILENO);
        if (r == 0)
            r = posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
        if (r == 0)
            r = posix_spawn(pid, "/proc/self/exe", &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return r;
}

/* Returns whether the child has ended; it is not reaped yet. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

int assembler_await(struct job *job, pid_t pid, unsigned seconds, struct rusage *used)
{
    CLEANUP_FD int process = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd end = {.fd = process, .events = POLLIN};
    const uint64_t until = clock_ns() + seconds * UINT64_C(1000000000);
    int status = -1;

    /* Without a descriptor for the process, poll only passes the time. */
    while (poll(&end, 1, LOOK_MS) <= 0 && (process >= 0 || !has_ended(pid)) &&
           (!job || job_go_on(job) == GS_OK) && clock_ns() < until)
        continue;
    kill(-pid, SIGKILL); /* the process group, ended or not */
    while (wait4(pid, &status, 0, used) < 0 && errno == EINTR)
        continue;
    return status;
}

/* ---- Its architecture ------------------------------------------------------------------------ */

/* Returns the position of the directive in the text, outside of comments, or the text's end. */
static const char *directive_find(const char *text, const char *name)
{
    while (*text && strncmp(text, name, strlen(name)) != 0) {
        const bool line = !strncmp(text, "//", 2), block = !strncmp(text, "/*", 2);
        const char *end = line ? strchr(text, '\n') : block ? strstr(text + 2, "*/") : text;

        text = end ? end + 1 + block : text + strlen(text);
    }
    return text;
}

void assembler_architecture(const char *text, unsigned major, unsigned minor, char argument[32])
{
    const char *sm = strstr(directive_find(text, ".target"), "sm_");
    const size_t digits = sm ? strspn(sm + 3, "0123456789") : 0;
    const bool letter = sm && (sm[3 + digits] == 'a' || sm[3 + digits] == 'f');

    snprintf(argument, 32, "-arch=sm_%u%u%.*s", major, minor, letter,
             letter ? sm + 3 + digits : "");
}

/* ---- Inside the process ---------------------------------------------------------------------- */

static bool limit(int what, rlim_t most)
{
    const struct rlimit limits = {most, most};

    return setrlimit(what, &limits) == 0;
}

/* Returns the exit status for a program that cannot be executed. */
static int run_failure(int error)
{
    return error == ENOMEM || error == EAGAIN ? ASSEMBLER_NO_MEMORY : ASSEMBLER_CANNOT_RUN;
}

int assembler_main(char **arguments)
{
    int error;

    const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != atoi(arguments[0]))
        return ASSEMBLER_CANNOT_RUN;               /* the worker has ended already */
    if (score >= 0 && write(score, "1000", 4) < 0) /* the first to be killed when memory is short */
        perror("oom_score_adj");
    /* Closes descriptors of the driver's that may be inherited. */
    syscall(SYS_close_range, CODE_FD + 1, ~0u, 0);
    if (!limit(RLIMIT_AS, ASSEMBLER_MEMORY_MOST) || !limit(RLIMIT_CPU, ASSEMBLER_SECONDS_MOST) ||
        !limit(RLIMIT_FSIZE, ASSEMBLER_CODE_MOST) || !limit(RLIMIT_CORE, 0)) {
        perror("limits");
        return ASSEMBLER_CANNOT_RUN;
    }
    if (sandbox_enter(arguments[1])) {
        execv(arguments[1], arguments + 1);
        error = errno;
        perror(arguments[1]);
    } else {
        error = errno;
        perror("sandbox");
    }
    _exit(run_failure(error)); /* exit handlers may need rights that were given up */
}
