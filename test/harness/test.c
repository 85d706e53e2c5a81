/*
 * test.c - runs a program's tests, each in a process of its own, and the checks they make.
 *
 * The program is the subreaper of all that its tests start, however often they fork: so every
 * process that a test leaves becomes its child, and is found.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "internal.h"

#define TEST_SECONDS 60u
#define LOG_LINES    40u

struct test_run *test_run;

static uint64_t random_state;

/* ---- Time and chance ------------------------------------------------------------------------- */

unsigned test_time_scale(void)
{
    const char *text = getenv("GSHARE_TEST_TIME_SCALE");
    int scale = text != NULL ? atoi(text) : 1;

    return scale > 0 ? (unsigned)scale : 1;
}

uint64_t test_deadline(unsigned milliseconds)
{
    return clock_ns() + (uint64_t)milliseconds * test_time_scale() * 1000000u;
}

void test_pause(void)
{
    struct timespec t = {0, 200000};

    nanosleep(&t, NULL);
}

/* splitmix64: every state gives a different number, so a split stream needs no care. */
uint64_t test_random(void)
{
    uint64_t x = random_state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void test_random_split(void)
{
    random_state = test_random() ^ (uint64_t)getpid();
}

static uint64_t seed_choose(void)
{
    const char *text = getenv("GSHARE_TEST_SEED");
    uint64_t seed;

    if (text != NULL)
        return strtoull(text, NULL, 0);
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        seed = clock_ns();
    return seed;
}

/* ---- Where things are ------------------------------------------------------------------------ */

/* Programs lie in BUILD/test/e2e/. */
void test_path(char *out, size_t size, const char *file)
{
    const char *build = getenv("GSHARE_TEST_BUILD");
    char self[PATH_MAX];
    ssize_t n;

    if (build != NULL) {
        snprintf(out, size, "%s/%s", build, file);
        return;
    }
    n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(self, '/');
        if (slash != NULL)
            *slash = '\0';
    }
    snprintf(out, size, "%s/%s", self, file);
}

const char *test_build_path(const char *file)
{
    static _Thread_local char path[PATH_MAX + 256];

    test_path(path, sizeof(path), file);
    return path;
}

bool test_device_is_soft(gs_session session)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    CHECK_OK(gs_session_info(session, &desc));
    return strcasestr(desc.device_name, "soft") != NULL;
}

void *shared_alloc(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        test_fail(__FILE__, __LINE__, "mmap of %zu shared bytes: %s", size, strerror(errno));
    return p;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

void test_fail(const char *file, int line, const char *format, ...)
{
    char text[2048];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    fflush(stdout);
    fprintf(stderr, "# %s:%d: %s (process %d)\n", file, line, text, (int)getpid());
    _exit(1);
}

void test_skip(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(test_run->skip, sizeof(test_run->skip), format, ap);
    va_end(ap);
    fflush(stdout);
    exit(EXIT_SKIP);
}

void test_check_status(const char *file, int line, const char *call, gs_status got,
                       gs_status wanted)
{
    if (got != wanted)
        test_fail(file, line, "%s: %s, not %s: %s", call, gs_status_name(got),
                  gs_status_name(wanted), got > GS_NOT_READY ? gs_last_error_message() : "");
    if (got > GS_NOT_READY && gs_last_error_message()[0] == '\0')
        test_fail(file, line, "%s: %s left no message", call, gs_status_name(got));
}

void test_check_equal(const char *file, int line, const char *what, uint64_t got, uint64_t wanted)
{
    if (got != wanted)
        test_fail(file, line, "%s is %" PRIu64 " (%#" PRIx64 "), not %" PRIu64 " (%#" PRIx64 ")",
                  what, got, got, wanted, wanted);
}

void test_check_text(const char *file, int line, const char *what, const char *got,
                     const char *part)
{
    if (got == NULL || strstr(got, part) == NULL)
        test_fail(file, line, "%s is \"%s\", without \"%s\"", what, got != NULL ? got : "(NULL)",
                  part);
}

void test_check_memory(const char *file, int line, const char *what, const void *got,
                       const void *wanted, size_t size)
{
    const unsigned char *a = got, *b = wanted;
    size_t first = 0, wrong = 0;

    for (size_t i = size; i-- > 0;) {
        if (a[i] != b[i]) {
            first = i;
            wrong++;
        }
    }
    if (wrong != 0)
        test_fail(file, line, "%s: %zu of %zu bytes wrong, first at %zu: %#x, not %#x", what, wrong,
                  size, first, a[first], b[first]);
}

/* ---- Running --------------------------------------------------------------------------------- */

enum outcome { PASSED, FAILED, SKIPPED };

/* The server of test_main_with_server; pid 0: there is none. A copy, since each test empties
 * test_run. */
static struct server common_server;

pid_t common_server_pid(void)
{
    return common_server.pid;
}

static void log_show(const struct server *server)
{
    char line[1024];
    unsigned total = 0, at = 0;
    FILE *f = fopen(server->log, "r");

    if (f == NULL)
        return;
    while (fgets(line, sizeof(line), f) != NULL)
        total++;
    rewind(f);
    fprintf(stderr, "# --- server %s said:\n", server->instance);
    while (fgets(line, sizeof(line), f) != NULL) {
        if (++at + LOG_LINES > total)
            fprintf(stderr, "#   %s%s", line, strchr(line, '\n') != NULL ? "" : "\n");
    }
    fclose(f);
}

static void __attribute__((noreturn)) test_child(const struct test *test, pid_t runner)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != runner)
        _exit(1);
    random_state = test_run->seed;
    test->run();
    fflush(stdout);
    exit(0); /* not _exit: a sanitizer looks for leaked memory now */
}

static const char *test_file_path(pid_t pid)
{
    static _Thread_local char path[64];

    snprintf(path, sizeof(path), "/tmp/gshare-test-%d.file", (int)pid);
    return path;
}

int test_file_open(const char **path)
{
    int fd;

    *path = test_file_path(getpid());
    fd = open(*path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        test_fail(__FILE__, __LINE__, "%s: %s", *path, strerror(errno));
    return fd;
}

/* The verdict on how the test's process itself ended. */
static enum outcome child_outcome(pid_t pid, unsigned seconds)
{
    uint64_t deadline = test_deadline(seconds * 1000);
    int status;

    if (!process_wait_end(pid, deadline)) {
        fprintf(stderr, "# not done after %u s: killed\n", seconds * test_time_scale());
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-pid, SIGKILL); /* tenants of a failed test; servers have groups of their own */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return PASSED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP)
        return SKIPPED;
    if (WIFSIGNALED(status))
        fprintf(stderr, "# ended by signal %d (%s)\n", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        fprintf(stderr, "# ended with status %d\n", WEXITSTATUS(status));
    return FAILED;
}

static enum outcome test_execute(const struct test *test)
{
    struct segments before;
    enum outcome outcome;
    unsigned left, servers;
    pid_t runner = getpid(), pid;

    memset(test_run, 0, sizeof(*test_run));
    test_run->seed = seed_choose();
    segments_take(&before);
    pid = fork();
    if (pid == 0)
        test_child(test, runner);
    if (pid < 0) {
        fprintf(stderr, "# fork: %s\n", strerror(errno));
        segments_free(&before);
        return FAILED;
    }
    setpgid(pid, pid);
    outcome = child_outcome(pid, test->seconds != 0 ? test->seconds : TEST_SECONDS);

    left = leak_processes();
    servers = atomic_load(&test_run->servers);
    if (servers > RUN_SERVERS_MAX)
        servers = RUN_SERVERS_MAX;
    for (unsigned i = 0; i < servers; i++)
        left += leak_queues(test_run->server[i].owner, test_run->server[i].instance);
    left += leak_segments(&before);
    /* A failed test leaves things, of course; a passed or skipped one must not. */
    if (left != 0)
        outcome = FAILED;
    if (outcome == FAILED)
        fprintf(stderr, "# random seed %#" PRIx64 "\n", test_run->seed);
    if (outcome == FAILED && common_server_pid() != 0)
        log_show(&common_server);
    for (unsigned i = 0; i < servers; i++) {
        if (outcome == FAILED)
            log_show(&test_run->server[i]);
        unlink(test_run->server[i].log);
    }
    unlink(test_file_path(pid));
    segments_free(&before);
    return outcome;
}

static bool test_wanted(const char *name, int argc, char **argv)
{
    if (argc < 2)
        return true;
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i]) != NULL)
            return true;
    }
    return false;
}

/* ---- A server of all tests ------------------------------------------------------------------- */

static void common_server_start(void)
{
    common_server = *server_start(NULL);
}

/* The last test: the server, which has served all tests, ends as it should and leaves nothing. */
static bool common_server_ends(size_t number, const struct segments *before)
{
    const char *ended = server_end(&common_server);
    unsigned left = leak_processes();

    left += leak_queues(common_server.owner, common_server.instance);
    left += leak_segments(before);
    if (ended)
        fprintf(stderr, "# %s\n", ended);
    if (ended || left != 0)
        log_show(&common_server);
    unlink(common_server.log);
    printf("%sok %zu - the_server_of_all_tests_ends_and_leaves_nothing\n",
           ended || left != 0 ? "not " : "", number);
    return !ended && left == 0;
}

/* ---- All tests ------------------------------------------------------------------------------- */

static int tests_run(int argc, char **argv, const struct test *tests, size_t count, bool common)
{
    size_t wanted = 0, number = 0, failed = 0;
    struct segments before;

    if (argc == 2 && strcmp(argv[1], "-l") == 0) {
        for (size_t i = 0; i < count; i++)
            puts(tests[i].name);
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("GSHARE_LOG_FILE", "none", 0); /* a server in the background would leave a file */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    test_run = shared_alloc(sizeof(*test_run));
    for (size_t i = 0; i < count; i++)
        wanted += test_wanted(tests[i].name, argc, argv);
    printf("1..%zu\n", wanted + common);
    segments_take(&before);
    if (common)
        common_server_start();
    for (size_t i = 0; i < count; i++) {
        uint64_t start = clock_ns();
        enum outcome outcome;

        if (!test_wanted(tests[i].name, argc, argv))
            continue;
        outcome = test_execute(&tests[i]);
        printf("%sok %zu - %s", outcome == FAILED ? "not " : "", ++number, tests[i].name);
        if (outcome == SKIPPED)
            printf(" # SKIP %s", test_run->skip);
        printf("  (%.2f s)\n", (double)(clock_ns() - start) * 1e-9);
        failed += outcome == FAILED;
    }
    if (common)
        failed += !common_server_ends(++number, &before);
    segments_free(&before);
    return failed != 0 || wanted == 0;
}

int test_main(int argc, char **argv, const struct test *tests, size_t count)
{
    return tests_run(argc, argv, tests, count, false);
}

int test_main_with_server(int argc, char **argv, const struct test *tests, size_t count)
{
    return tests_run(argc, argv, tests, count, true);
}
