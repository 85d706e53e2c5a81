/* test_log_command.c - `gsctl log` finds the server's log, wherever it is, and follows it. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gsctl_run.h"
#include "harness/harness.h"

#define STRANGER 65534u

static char folder[64];

/* A path in a folder of the test's own. */
static const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned next;

    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "/tmp/gshare-log-XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
    }
    next = (next + 1) % ARRAY_SIZE(path);
    snprintf(path[next], sizeof(path[next]), "%s/%s", folder, name);
    return path[next];
}

static void folder_remove(const char *first, const char *second)
{
    CHECK(unlink(path_of(first)) == 0);
    CHECK(!second || unlink(path_of(second)) == 0);
    CHECK(rmdir(folder) == 0);
}

static void visit(const char *name)
{
    CHECK_OK(gs_detach(attach_named(name)));
}

/* ---- gsctl log -f ---------------------------------------------------------------------------- */

struct follower {
    pid_t pid;
    int out;
    char text[65536];
};

static void follow(void *out)
{
    dup2(*(int *)out, STDOUT_FILENO);
    execl(test_build_path("bin/gsctl"), "gsctl", "log", "-f", NULL);
    _exit(127);
}

static void follow_json(void *out)
{
    dup2(*(int *)out, STDOUT_FILENO);
    execl(test_build_path("bin/gsctl"), "gsctl", "log", "-f", "--json", NULL);
    _exit(127);
}

static void follower_start(struct follower *follower, void (*run)(void *out))
{
    int ends[2];

    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    *follower = (struct follower){.pid = tenant_start(run, &ends[1]), .out = ends[0]};
    close(ends[1]);
}

static void follower_expect(struct follower *follower, const char *text)
{
    const uint64_t deadline = test_deadline(20000);
    size_t length = strlen(follower->text);

    while (!strstr(follower->text, text)) {
        struct pollfd events = {follower->out, POLLIN, 0};

        if (clock_ns() > deadline)
            test_fail(__FILE__, __LINE__, "no '%s' in: %s", text, follower->text);
        if (poll(&events, 1, 100) <= 0)
            continue;
        const ssize_t n =
            read(follower->out, follower->text + length, sizeof(follower->text) - 1 - length);
        CHECK(n > 0);
        length += (size_t)n;
        follower->text[length] = 0;
    }
}

static void follower_end(struct follower *follower)
{
    tenant_kill(follower->pid, SIGTERM);
    close(follower->out);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void the_log_is_found_where_standard_error_goes(void)
{
    struct server *server = server_start(NULL);

    visit("somebody");
    GSCTL_OK("log");
    CHECK_TEXT(output, "event=ready server=");
    CHECK_TEXT(output, "event=attached session=1 ");
    server_stop(server);
}

static void a_rotated_log_is_followed_without_a_gap(void)
{
    const char *const arguments[] = {"--log-file", path_of("log"), NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    struct follower follower;
    char name[32];

    for (unsigned i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "early-%u", i);
        visit(name);
    }
    follower_start(&follower, follow);
    follower_expect(&follower, "name=early-19");
    CHECK(strstr(follower.text, "name=early-2 ") == NULL);
    visit("before");
    follower_expect(&follower, "name=before");
    CHECK(rename(path_of("log"), path_of("log.1")) == 0);
    visit("between"); /* the server writes into the old file still */
    CHECK(kill(server->pid, SIGHUP) == 0);
    follower_expect(&follower, "event=log-reopened");
    CHECK_TEXT(follower.text, "name=between");
    visit("after");
    follower_expect(&follower, "name=after");
    follower_end(&follower);
    GSCTL_OK("log");
    CHECK_TEXT(output, "event=log-reopened");
    CHECK(strstr(output, "name=between") == NULL);
    server_stop(server);
    folder_remove("log", "log.1");
}

/* As logrotate's copytruncate does it. */
static void a_log_that_is_cut_goes_on_from_its_begin(void)
{
    const char *const arguments[] = {"--log-file", path_of("log"), NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    struct follower follower;

    visit("before");
    follower_start(&follower, follow);
    follower_expect(&follower, "name=before");
    CHECK(truncate(path_of("log"), 0) == 0);
    visit("after");
    follower_expect(&follower, "name=after");
    follower_end(&follower);
    GSCTL_OK("log");
    CHECK(strncmp(output, "20", 2) == 0); /* the date: no hole stands where the log was cut */
    CHECK_TEXT(output, "name=after");
    CHECK(strstr(output, "name=before") == NULL);
    server_stop(server);
    folder_remove("log", NULL);
}

static void a_followed_log_is_json_line_by_line(void)
{
    struct server *server = server_start(NULL);
    struct follower follower;

    follower_start(&follower, follow_json);
    visit("first");
    follower_expect(&follower, "\"event\":\"attached\",\"session\":1,");
    follower_expect(&follower, "\"name\":\"first\"");
    visit("second");
    follower_expect(&follower, "\"event\":\"attached\",\"session\":2,");
    CHECK(strstr(follower.text, "event=") == NULL);
    follower_end(&follower);
    server_stop(server);
}

static void the_journal_is_asked_for_the_servers_lines(void)
{
    struct server *server = server_start(
        &(struct server_options){.environment = (const char *const[]){"JOURNAL_STREAM=1:2", NULL}});
    char path[4096];
    FILE *file = fopen(path_of("journalctl"), "we");

    CHECK(file && fputs("#!/bin/sh\necho asked: \"$@\"\n", file) >= 0 && fclose(file) == 0);
    CHECK(chmod(path_of("journalctl"), 0755) == 0);
    snprintf(path, sizeof(path), "%s:%.3000s", folder, getenv("PATH"));
    CHECK(setenv("PATH", path, 1) == 0);
    GSCTL_OK("log", "-f");
    CHECK_TEXT(output, "asked: ");
    CHECK_TEXT(output, " --follow");
    CHECK(strstr(output, "_COMM=gshared") != NULL || strstr(output, "unit=") != NULL);
    CHECK(setenv("PATH", "/no/such/folder", 1) == 0);
    CHECK_EQUAL(gsctl("log", NULL), 1);
    CHECK_TEXT(output, "the log is in the journal: journalctl ");
    server_stop(server);
    folder_remove("journalctl", NULL);
}

/* Starts it with that in its environment. */
static void background_start(const char *variable, const char *value)
{
    static const char *const start[] = {"bin/gshared", "-d", "--device", "soft", NULL};
    char instance[32];

    snprintf(instance, sizeof(instance), "log-%d", (int)getpid());
    CHECK(setenv("GSHARE_INSTANCE", instance, 1) == 0);
    CHECK(setenv(variable, value, 1) == 0);
    if (program_run(start, output, sizeof(output)) != 0)
        test_fail(__FILE__, __LINE__, "%s", output);
}

static void serve_into_pipe(void *end)
{
    dup2(*(int *)end, STDERR_FILENO);
    execl(test_build_path("bin/gshared"), "gshared", "-f", "--device", "soft", "--config", "none",
          NULL);
    _exit(127);
}

/* What is in the pipe, which may be nothing, as `output`. */
static void pipe_read(int end)
{
    struct pollfd events = {end, POLLIN, 0};
    size_t length = 0;

    while (poll(&events, 1, 0) > 0 && length < sizeof(output) - 1) {
        const ssize_t n = read(end, output + length, sizeof(output) - 1 - length);

        CHECK(n > 0);
        length += (size_t)n;
    }
    output[length] = 0;
}

/* As a terminal that was stopped, or a journal that stands still. */
static void a_log_that_nobody_reads_holds_nobody_up(void)
{
    char name[48];
    int ends[2];
    pid_t server;

    snprintf(name, sizeof(name), "test-%d-pipe", (int)getpid());
    setenv("GSHARE_INSTANCE", name, 1);
    CHECK(pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[1], F_SETPIPE_SZ, 8192) >= 8192);
    server = tenant_start(serve_into_pipe, &ends[1]);
    close(ends[1]);
    CHECK_WITHIN(20000, gsctl("status", NULL) == 0);
    for (unsigned i = 0; i < 100; i++)
        visit("somebody");
    GSCTL_OK("status");
    CHECK_TEXT(output, "100 since the start");
    CHECK_TEXT(output, "log       a pipe\n");
    CHECK_EQUAL(gsctl("log", NULL), 1);
    CHECK_TEXT(output, "the server writes its log to a pipe");
    pipe_read(ends[0]);
    CHECK_TEXT(output, "event=attached");
    GSCTL_OK("drain");
    pipe_read(ends[0]);
    CHECK_TEXT(output, "event=lines-lost lines=");
    CHECK_TEXT(output, "event=drain ");
    GSCTL_OK("quit");
    tenant_join(server);
    close(ends[0]);
}

static void a_server_in_the_background_can_do_without_a_log(void)
{
    background_start("GSHARE_LOG_FILE", "none");
    CHECK_EQUAL(gsctl("log", NULL), 1);
    CHECK_TEXT(output, "the server keeps no log; gshared --log-file does");
    GSCTL_OK("status");
    CHECK_TEXT(output, "log       none\n");
    GSCTL_OK("quit");
}

static void in_the_background_the_log_goes_where_mps_has_it(void)
{
    CHECK(path_of("gshared.log") && unsetenv("GSHARE_LOG_FILE") == 0);
    CHECK_EQUAL(rmdir(folder), 0); /* it is made anew */
    background_start("CUDA_MPS_LOG_DIRECTORY", folder);
    GSCTL_OK("log");
    CHECK_TEXT(output, "event=ready server=");
    GSCTL_OK("status");
    CHECK_TEXT(output, path_of("gshared.log"));
    GSCTL_OK("status", "--json");
    CHECK_TEXT(output, path_of("gshared.log"));
    /* Why one does not start is told to who starts it, too. */
    CHECK_EQUAL(
        program_run((const char *const[]){"bin/gshared", "-d", NULL}, output, sizeof(output)), 1);
    CHECK_TEXT(output, "already runs");
    GSCTL_OK("quit");
    folder_remove("gshared.log", NULL);
}

/* As a user who has a folder for that; root's is the machine's. */
static void a_users_server_logs_in_the_users_folder(void *user)
{
    char file[128], command[256];

    if (geteuid() == 0)
        CHECK(setgid(*(unsigned *)user) == 0 && setuid(*(unsigned *)user) == 0);
    CHECK(unsetenv("GSHARE_LOG_FILE") == 0 && unsetenv("CUDA_MPS_LOG_DIRECTORY") == 0);
    snprintf(command, sizeof(command), "%s/a/b", folder);
    background_start("XDG_STATE_HOME", command);
    snprintf(file, sizeof(file), "%s/a/b/gshare/%s.log", folder, getenv("GSHARE_INSTANCE"));
    GSCTL_OK("log");
    CHECK_TEXT(output, "event=ready server=");
    GSCTL_OK("quit");
    /* What has become large is put aside at the next start. */
    CHECK(truncate(file, 17 << 20) == 0);
    background_start("XDG_STATE_HOME", command);
    GSCTL_OK("quit");
    struct stat st;
    CHECK(stat(file, &st) == 0 && st.st_size < 1 << 20);
    strcat(file, ".1");
    CHECK(stat(file, &st) == 0 && st.st_size == 17 << 20);
    /* Where nothing can be written, none is kept. */
    background_start("XDG_STATE_HOME", "/proc");
    CHECK_TEXT(output, "no log is kept: ");
    CHECK_EQUAL(gsctl("log", NULL), 1);
    CHECK_TEXT(output, "the server keeps no log");
    GSCTL_OK("quit");
}

static void without_a_word_it_logs_in_its_users_folder(void)
{
    unsigned user = STRANGER;
    char command[256];

    CHECK(path_of("a") && chmod(folder, 0777) == 0);
    if (geteuid() == 0 && access(test_build_path("bin/gshared"), X_OK) != 0)
        test_skip("the build cannot be reached");
    tenant_join(tenant_start(a_users_server_logs_in_the_users_folder, &user));
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK(system(command) == 0);
}

static void as_stranger(void *command)
{
    /* Another user need not be able to reach the build's folder. */
    const int program = open(test_build_path("bin/gsctl"), O_RDONLY | O_CLOEXEC);

    CHECK(program >= 0 && setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
    fexecve(program, (char *const[]){(char[]){"gsctl"}, command, NULL}, environ);
    _exit(127);
}

static void another_user_does_not_read_it(void)
{
    if (geteuid() != 0)
        test_skip("only root's server serves others");
    struct server *server = server_start(NULL);
    int status = tenant_wait(tenant_start(as_stranger, (char[]){"log"}), 20);

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    /* What others may know is told without the log's place. */
    status = tenant_wait(tenant_start(as_stranger, (char[]){"status"}), 20);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(the_log_is_found_where_standard_error_goes),
    TEST(a_rotated_log_is_followed_without_a_gap),
    TEST(a_log_that_is_cut_goes_on_from_its_begin),
    TEST(a_followed_log_is_json_line_by_line),
    TEST(the_journal_is_asked_for_the_servers_lines),
    TEST(a_log_that_nobody_reads_holds_nobody_up),
    TEST(a_server_in_the_background_can_do_without_a_log),
    TEST(in_the_background_the_log_goes_where_mps_has_it),
    TEST(without_a_word_it_logs_in_its_users_folder),
    TEST(another_user_does_not_read_it),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
