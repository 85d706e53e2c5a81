/* test_examples.c - the programs in examples/ do what they say, and the demo ends when it is told
 * to. Those that this machine could not build are skipped. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sanitizers.h"
#include "harness/harness.h"

static char output[8192];

/* Runs a program of the examples beside a server; with skip where it is not built. */
static void example_run(const char *program, const char *wanted)
{
    struct server *server;

    if (access(test_build_path(program), X_OK) < 0)
        test_skip("%s is not built here", program);
    server = server_start(NULL);
    CHECK_EQUAL(program_run((const char *const[]){program, NULL}, output, sizeof(output)), 0);
    CHECK_TEXT(output, wanted);
    server_stop(server);
}

static void hello_prints_its_squares(void)
{
    example_run("examples/hello", "1024 squares, from 0 to 1046529\n");
}

static void a_cuda_program_has_its_kernels_and_variables(void)
{
    example_run("examples/vector", "double  1048576 of 1048576 elements right");
}

static void a_cuda_program_runs_as_it_is(void)
{
    example_run("examples/saxpy", "1048576 of 1048576 elements right\n");
}

static void a_cpp_program_has_its_classes(void)
{
    example_run("examples/vector-cpp", "100000 of 100000 elements right\n");
}

/* ---- The demo -------------------------------------------------------------------------------- */

/* A grey JPEG of 8 x 8 pixels. */
static const unsigned char photo[] = {
    0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x00, 0x00, 0x01,
    0x00, 0x01, 0x00, 0x00, 0xff, 0xdb, 0x00, 0x43, 0x00, 0xa0, 0x6e, 0x78, 0x8c, 0x78, 0x64, 0xa0,
    0x8c, 0x82, 0x8c, 0xb4, 0xaa, 0xa0, 0xbe, 0xf0, 0xff, 0xff, 0xf0, 0xdc, 0xdc, 0xf0, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc0, 0x00, 0x0b, 0x08, 0x00, 0x08,
    0x00, 0x08, 0x01, 0x01, 0x11, 0x00, 0xff, 0xc4, 0x00, 0x14, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xc4, 0x00, 0x15,
    0x10, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x13, 0xff, 0xda, 0x00, 0x08, 0x01, 0x01, 0x00, 0x00, 0x3f, 0x00, 0x59, 0xff, 0xd9};

static char folder[] = "/tmp/gshare-demo-XXXXXX";
static char photo_path[sizeof(folder) + 16];

static void folder_remove(void)
{
    unlink(photo_path);
    rmdir(folder);
}

static const char *demo_program(void)
{
    int fd;

    if (access(test_build_path("examples/demo"), X_OK) < 0)
        test_skip("examples/demo is not built here");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(photo_path, sizeof(photo_path), "%s/photo.jpg", folder);
    fd = open(photo_path, O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    CHECK(fd >= 0);
    CHECK_EQUAL(write(fd, photo, sizeof(photo)), sizeof(photo));
    close(fd);
    return test_build_path("examples/demo");
}

/* Whether the process catches this signal by now. */
static bool process_catches(pid_t pid, int signal)
{
    char path[64], line[256];
    unsigned long long caught = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        sscanf(line, "SigCgt: %llx", &caught);
    if (f != NULL)
        fclose(f);
    return caught >> (signal - 1) & 1;
}

/* Starts a demo that would go on for an hour, and gives its output to read. */
static pid_t demo_start(const char *program, FILE **out)
{
    const char *device = getenv("GSHARE_TEST_DEVICE");
    int ends[2];
    pid_t pid;

    CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl(program, program, "--device", device ? device : "soft", "--seconds", "1200",
              "--output", folder, photo_path, (char *)NULL);
        _exit(127);
    }
    CHECK(pid > 0);
    close(ends[1]);
    *out = fdopen(ends[0], "r");
    CHECK(*out != NULL);
    return pid;
}

struct reminder {
    pid_t pid;
    int signal;
};

static void reminder_run(void *argument)
{
    const struct reminder *reminder = argument;

    for (;;) {
        sleep(10);
        kill(reminder->pid, reminder->signal);
    }
}

/* Signals the program. ThreadSanitizer's library loses 1 in 100 signals that come while a program
 * starts, or starts others; of 474 in a build without it none was lost. So there a process, which
 * is returned, does it again. */
static pid_t signal_send(pid_t pid, int signal)
{
    struct reminder reminder = {pid, signal};

    kill(pid, signal);
    return THREAD_SANITIZER ? tenant_start(reminder_run, &reminder) : 0;
}

/* Signals it when `line` has been read, or, NULL, as soon as it can; and reads what it still says.
 */
static void demo_interrupt(const char *program, const char *line, int signal)
{
    char text[256];
    FILE *out;
    pid_t pid = demo_start(program, &out);
    int status;

    if (line == NULL)
        CHECK_WITHIN(10000, process_catches(pid, signal));
    while (line != NULL && fgets(text, sizeof(text), out) != NULL && strstr(text, line) == NULL)
        ;
    const pid_t again = signal_send(pid, signal);
    output[0] = '\0';
    while (fgets(text, sizeof(text), out) != NULL)
        strncat(output, text, sizeof(output) - strlen(output) - 1);
    fclose(out);
    if (again) {
        kill(again, SIGKILL);
        tenant_wait(again, 30);
    }
    status = tenant_wait(pid, 30);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK_TEXT(output, "Left behind: 0 processes, 0 queues, 0 shared segments.\nInterrupted.\n");
}

static void the_demo_ends_at_once_when_it_is_interrupted(void)
{
    const char *program = demo_program();

    demo_interrupt(program, NULL, SIGTERM);
    demo_interrupt(program, NULL, SIGINT);
    demo_interrupt(program, "server demo-", SIGINT);
    demo_interrupt(program, "images/s", SIGTERM);
    folder_remove();
}

static void the_demo_says_how_long_it_takes_and_what_one_may_wonder_at(void)
{
    const char *program = demo_program(), *device = getenv("GSHARE_TEST_DEVICE");
    char text[256];
    FILE *out;
    pid_t pid = demo_start(program, &out);

    output[0] = '\0';
    while (fgets(text, sizeof(text), out) != NULL && strstr(text, "images/s") == NULL)
        strncat(output, text, sizeof(output) - strlen(output) - 1);
    kill(pid, SIGINT);
    while (fgets(text, sizeof(text), out) != NULL)
        ;
    fclose(out);
    tenant_wait(pid, 30);
    CHECK_TEXT(output, "Three races of 1200 s each, by 1, 2 and 4 tenants");
    CHECK_TEXT(output, "Each image is a crop of the photograph");
    if (!device || !strcmp(device, "soft"))
        CHECK_TEXT(output, "On the software device more tenants are hardly faster");
    folder_remove();
}

/* What it has drawn is a photograph to it: it starts its server with it. */
static void the_demo_draws_a_picture_where_there_is_no_photograph(void)
{
    const char *program = demo_program();
    struct stat file;

    CHECK_EQUAL(unlink(photo_path), 0);
    CHECK_EQUAL(program_run((const char *const[]){"examples/demo", "--draw", photo_path, NULL},
                            output, sizeof(output)),
                0);
    CHECK(stat(photo_path, &file) == 0 && file.st_size > 100000);
    demo_interrupt(program, "server demo-", SIGINT);
    folder_remove();
    CHECK_EQUAL(
        program_run((const char *const[]){"examples/demo", "--draw", "/proc/none.jpg", NULL},
                    output, sizeof(output)),
        1);
    CHECK_TEXT(output, "demo: /proc/none.jpg: No such file");
}

static void the_demo_says_what_is_wrong_before_it_starts(void)
{
    const char *program = demo_program();

    (void)program;
    CHECK_EQUAL(program_run((const char *const[]){"examples/demo", NULL}, output, sizeof(output)),
                2);
    CHECK_TEXT(output, "Usage: demo");
    CHECK_EQUAL(
        program_run((const char *const[]){"examples/demo", "--help", NULL}, output, sizeof(output)),
        0);
    CHECK_EQUAL(program_run((const char *const[]){"examples/demo", "/nonexistent.jpg", NULL},
                            output, sizeof(output)),
                1);
    CHECK_TEXT(output, "demo: /nonexistent.jpg: No such file");
    CHECK_EQUAL(program_run((const char *const[]){"examples/demo", "--output", "/proc/none",
                                                  photo_path, NULL},
                            output, sizeof(output)),
                1);
    CHECK_TEXT(output, "demo: --output /proc/none: No such file");
    folder_remove();
}

static const struct test tests[] = {
    TEST(hello_prints_its_squares),
    TEST(a_cuda_program_has_its_kernels_and_variables),
    TEST(a_cuda_program_runs_as_it_is),
    TEST(a_cpp_program_has_its_classes),
    TEST_WITHIN(the_demo_ends_at_once_when_it_is_interrupted, 120),
    TEST(the_demo_says_how_long_it_takes_and_what_one_may_wonder_at),
    TEST_WITHIN(the_demo_draws_a_picture_where_there_is_no_photograph, 120),
    TEST(the_demo_says_what_is_wrong_before_it_starts),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
