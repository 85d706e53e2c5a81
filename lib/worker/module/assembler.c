/*
 * assembler.c - see assembler.h.
 *
 * Text, code and messages are files in memory. Like the worker itself the process is started from
 * the server's executable, which gives up what a compiler does not need and becomes ptxas
 * (assembler_main): a fork would copy the worker's page tables.
 */
#include "worker/module/assembler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/log_allowance.h"
#include "common/sanitizers.h"
#include "common/util.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/driver/worker.h"
#include "worker/jobs/job.h"
#include "worker/module/assembler_sandbox.h"
#include "worker/module/image.h"

enum { TEXT_FD = 3, CODE_FD = 4, DESCRIPTORS_FREE = 10 };
enum { ARGUMENTS_MOST = 5 };
enum { CANNOT_RUN = 127 };

/* A function at the fence's bounds takes 3 GiB. A sanitizer has terabytes of addresses. */
#define MEMORY_MOST     (ADDRESS_SANITIZER || THREAD_SANITIZER ? RLIM_INFINITY : (rlim_t)8 << 30)
#define SECONDS_MOST    1200u /* of CPU time; one at several bounds takes 12 minutes */
#define CODE_MOST       ((rlim_t)512 << 20)
#define LOOK_MS         50 /* whether the session closes */
#define VERSION_SECONDS 10

/* Where NVIDIA's packages put the toolkit. */
#define TOOLKITS "/usr/local/cuda/bin/ptxas"
/* The same without links: another toolkit that takes the folder's name is another version, which
 * nobody has looked at. */
static char toolkits[PATH_MAX];

/* NULL: the driver compiles. Chosen before the worker has other threads. */
static const char *program;

bool assembler_wanted(void)
{
    return program;
}

uint64_t assembler_version(void)
{
    struct stat file;

    return program && stat(program, &file) == 0 ? (uint64_t)file.st_mtime + (uint64_t)file.st_size
                                                : 0;
}

/* ---- Files in memory ------------------------------------------------------------------------- */

/* Above the numbers that the process has them at, so that no dup2 takes another's place. */
static int file_new(void)
{
    CLEANUP_FD int fd = memfd_create("gshare-ptxas", MFD_CLOEXEC);

    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTORS_FREE);
}

static int file_with(const char *text, size_t size)
{
    const int fd = file_new();

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

/* Makes the file that is compiled. Where a text has no kernel, ptxas adds one by files in /tmp,
 * which it may not write: so it has one here, whose name nobody is told (kernels_read). */
static int text_file(const char *text, size_t size)
{
    static const char kernel[] = "\n.visible .entry " REWRITE_PREFIX "none()\n{\n\tret;\n}\n";
    CLEANUP_FREE char *more = NULL;

    if (strstr(text, ".entry"))
        return file_with(text, size);
    more = malloc(size + sizeof(kernel));
    if (!more)
        return -1;
    memcpy(more, text, size);
    memcpy(more + size, kernel, sizeof(kernel));
    return file_with(more, size + sizeof(kernel) - 1);
}

/* All that is in the file, with a NUL behind it, to be freed. NULL: there is no memory. */
static char *file_read(int fd, size_t most, size_t *size)
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

/* Starts the program with up to ARGUMENTS_MOST arguments and with the files; in and out: -1, none.
 * Returns 0 or an error number. */
static int start(const char *path, char *const *given, int in, int out, int said, pid_t *pid)
{
    char self[16];
    char *arguments[4 + ARGUMENTS_MOST + 1] = {"gshared", "--ptxas-run", self,
                                               (char *)(uintptr_t)path};
    char *environment[] = {"PATH=/usr/bin:/bin", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int r = posix_spawn_file_actions_init(&actions);

    if (r)
        return r;
    snprintf(self, sizeof(self), "%d", (int)getpid());
    for (size_t i = 0; i < ARGUMENTS_MOST && given[i]; i++)
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

/* Waits for the end of the process, which it kills, with what that has started, where the job's
 * session closes or the time is over. job: NULL, nobody's. Returns its status. */
static int await(struct job *job, pid_t pid, unsigned seconds, struct rusage *used)
{
    CLEANUP_FD int process = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd end = {.fd = process, .events = POLLIN};
    const uint64_t until = clock_ns() + seconds * UINT64_C(1000000000);
    int status = -1;

    while (process >= 0 && poll(&end, 1, LOOK_MS) <= 0 && (!job || job_go_on(job) == GS_OK) &&
           clock_ns() < until)
        continue;
    kill(-pid, SIGKILL); /* it has ended, or is to end */
    while (wait4(pid, &status, 0, used) < 0 && errno == EINTR)
        continue;
    return status;
}

static uint64_t cpu_ns(const struct rusage *used)
{
    return ((uint64_t)used->ru_utime.tv_sec + (uint64_t)used->ru_stime.tv_sec) * 1000000000u +
           ((uint64_t)used->ru_utime.tv_usec + (uint64_t)used->ru_stime.tv_usec) * 1000u;
}

/* ---- A compilation --------------------------------------------------------------------------- */

/* Where the text has the directive outside of comments, or its end. */
static const char *directive_find(const char *text, const char *name)
{
    while (*text && strncmp(text, name, strlen(name)) != 0) {
        const bool line = !strncmp(text, "//", 2), block = !strncmp(text, "/*", 2);
        const char *end = line ? strchr(text, '\n') : block ? strstr(text + 2, "*/") : text;

        text = end ? end + 1 : text + strlen(text);
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

static void architecture(const char *text, char argument[32])
{
    assembler_architecture(text, worker->info.compute_major, worker->info.compute_minor, argument);
}

/* Who loads again and again does not fill the log. */
static struct log_allowance allowance = LOG_ALLOWANCE(8, 10000000000u);

static gs_status refuse(struct job *job, int status, const char *said)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN) {
        if (log_allowance_take(&allowance, job->session->uid))
            log_warning("event=no-ptxas program=%s reason=\"%s\"", program, said);
        return job_fail(job, GS_ERR_DRIVER, "ptxas cannot be run: %s", said);
    }
    if (WIFSIGNALED(status))
        return job_fail(
            job, GS_ERR_BAD_IMAGE,
            "ptxas was ended by signal %d (%s); it may have %llu MiB of memory and %u s",
            WTERMSIG(status), strsignal(WTERMSIG(status)), (unsigned long long)(MEMORY_MOST >> 20),
            SECONDS_MOST);
    return job_fail(job, GS_ERR_BAD_IMAGE, "ptxas refuses it: %s", said);
}

/* The software device's machine code is text. */
static const char *code_fault(const unsigned char *code, size_t size)
{
    if (size == 0)
        return "it is empty";
    if (!worker->machine_code)
        return NULL;
    return image_binary(code, size) ? image_fault(code, size) : "it is text";
}

gs_status assembler_run(struct job *job, const char *text, size_t size, uint32_t threads,
                        unsigned char **code, size_t *code_size)
{
    CLEANUP_FD int in = text_file(text, size);
    CLEANUP_FD int out = file_new();
    CLEANUP_FD int messages = file_new();
    CLEANUP_FREE char *said = NULL;
    CLEANUP_FREE char *made = NULL;
    struct rusage used = {.ru_utime = {0}};
    char arch[32], split[32];
    char *const arguments[ARGUMENTS_MOST] = {arch, "/proc/self/fd/3" /* TEXT_FD */, "-o",
                                             "/proc/self/fd/4" /* CODE_FD */,
                                             threads > 1 ? split : NULL};
    size_t length;
    pid_t pid;

    architecture(text, arch);
    snprintf(split, sizeof(split), "--split-compile=%u", threads);
    if (in < 0 || out < 0 || messages < 0)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for ptxas: %s", strerror(errno));
    const int failed = start(program, arguments, in, out, messages, &pid);
    if (failed)
        return job_fail(job, GS_ERR_NO_MEMORY, "starting ptxas: %s", strerror(failed));
    const int status = await(job, pid, 2 * SECONDS_MOST, &used);
    job->helpers_ns += cpu_ns(&used);
    if (job->status != GS_OK)
        return job->status;
    said = file_read(messages, sizeof(job->message), &length);
    made = file_read(out, (size_t)CODE_MOST, code_size);
    if (!said || !made)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for what ptxas has made");
    if (status != 0)
        return refuse(job, status, said);
    const char *fault = code_fault((unsigned char *)made, *code_size);
    if (fault)
        return job_fail(job, GS_ERR_BAD_IMAGE, "what ptxas has made is no machine code: %s", fault);
    *code = (unsigned char *)made;
    made = NULL;
    return GS_OK;
}

/* ---- Which program --------------------------------------------------------------------------- */

bool assembler_suits(const char *said, unsigned driver)
{
    const char *release = strstr(said, "release ");
    unsigned major, minor;

    return release && sscanf(release, "release %u.%u", &major, &minor) == 2 &&
           major == driver / 1000 && minor >= driver % 1000 / 10;
}

/* Runs the toolkit's for what it is. Returns why it cannot serve here, in `text` or a literal;
 * NULL: it can. */
static const char *toolkits_fault(char *text, size_t size)
{
    CLEANUP_FD int messages = file_new();
    CLEANUP_FREE char *said = NULL;
    struct rusage used;
    char arch[32];
    char *const arguments[ARGUMENTS_MOST] = {"--version", arch};
    struct stat file;
    size_t length;
    int driver = 0;
    pid_t pid;

    if (!realpath(TOOLKITS, toolkits) || stat(toolkits, &file) != 0)
        return "it is not there";
    if (!S_ISREG(file.st_mode) || file.st_uid != 0 || file.st_mode & (S_IWGRP | S_IWOTH))
        return "others than root can change it";
    architecture("", arch);
    if (messages < 0 || start(toolkits, arguments, -1, -1, messages, &pid) != 0)
        return "it cannot be started";
    const int status = await(NULL, pid, VERSION_SECONDS, &used);
    said = file_read(messages, size - 1, &length);
    if (!said || DRV(cuDriverGetVersion, &driver))
        return "no memory";
    if (status == 0 && assembler_suits(said, (unsigned)driver))
        return NULL;
    for (char *c = said; *c; c++)
        *c = (char)(*c == '\n' || *c == '"' ? ' ' : *c);
    snprintf(text, size, "%s", status ? said : "it is of another CUDA version than the driver");
    return text;
}

void assembler_choose(void)
{
    const char *wanted = getenv("GSHARE_PTXAS"), *fault;
    char text[1024];

    if (!wanted || !*wanted || strcmp(wanted, "none") == 0)
        return;
    if (strcmp(wanted, "auto") != 0) {
        program = wanted;
        return;
    }
    if (!worker->machine_code)
        return;
    fault = toolkits_fault(text, sizeof(text));
    if (fault) {
        log_info("event=ptxas program=%s used=no reason=\"%s\"", TOOLKITS, fault);
        return;
    }
    program = toolkits;
    log_info("event=ptxas program=%s used=yes", toolkits);
}

/* ---- Inside the process ---------------------------------------------------------------------- */

static bool limit(int what, rlim_t most)
{
    const struct rlimit limits = {most, most};

    return setrlimit(what, &limits) == 0;
}

int assembler_main(char **arguments)
{
    const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != atoi(arguments[0]))
        return CANNOT_RUN;                         /* the worker has ended before that */
    if (score >= 0 && write(score, "1000", 4) < 0) /* first to go where memory is short */
        perror("oom_score_adj");
    /* The driver's, if it has opened any to be inherited. */
    syscall(SYS_close_range, CODE_FD + 1, ~0u, 0);
    if (!limit(RLIMIT_AS, MEMORY_MOST) || !limit(RLIMIT_CPU, SECONDS_MOST) ||
        !limit(RLIMIT_FSIZE, CODE_MOST) || !limit(RLIMIT_CORE, 0)) {
        perror("limits");
        return CANNOT_RUN;
    }
    if (sandbox_enter(arguments[1])) {
        execv(arguments[1], arguments + 1);
        perror(arguments[1]);
    } else {
        perror("sandbox");
    }
    _exit(CANNOT_RUN); /* what exit does may need what has been given up */
}
