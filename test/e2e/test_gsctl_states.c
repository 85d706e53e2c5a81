/*
 * test_gsctl_states.c - every command of gsctl where something is wrong: no server, a stopped
 * supervisor, a user who is not the server's, a device whose workers were killed over and over.
 * Each ends with the status that its help names, and in time.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl_run.h"
#include "harness/harness.h"

/* gsctl gives up before 2 s have passed; the rest of the time is for a machine with other work. */
#define SOON_MS 2800

/* The next worker may come while the command runs, or not. */
#define EITHER -1
/* There may be servers besides the test's. */
#define OTHERS -2

enum state { NOBODY, STOPPED, STRANGER, LOST, STATES };

/* The words after the command; "ID" stands for a session of the server. quit is the last one. */
static const struct tried {
    const char *words[5];
    int status[STATES]; /* what it ends with */
} tried[] = {
    {{"status"}, {3, 1, 0, 0}},
    {{"servers"}, {OTHERS, 0, 0, 0}},
    {{"ps"}, {3, 1, 0, 0}},
    {{"top", "--json"}, {3, 1, 0, 0}},
    {{"info"}, {3, 1, 0, 0}},
    {{"dump"}, {3, 1, 0, 0}},
    {{"metrics"}, {3, 1, 0, 0}},
    {{"log"}, {3, 1, 1, 0}},
    {{"trace", "-o/dev/null", "--seconds=1"}, {3, 1, 0, EITHER}},
    {{"get"}, {3, 1, 0, 0}},
    {{"explain", "ID"}, {3, 1, 1, 0}},
    {{"set", "--default", "--weight", "3"}, {3, 1, 1, 0}},
    {{"set", "ID", "--weight", "2"}, {3, 1, 1, 1}},
    {{"trust", "nobody"}, {3, 1, 1, 0}},
    {{"reserve", "r", "--sms", "2"}, {3, 1, 1, 0}},
    {{"release", "r"}, {3, 1, 1, 0}},
    {{"provision", "exact"}, {3, 1, 1, 0}},
    {{"drain"}, {3, 1, 1, 0}},
    {{"drain", "--no"}, {3, 1, 1, 0}},
    {{"mps", "get_server_list"}, {3, 1, 0, 0}},
    {{"mps", "ps"}, {3, 1, 0, 0}},
    {{"mps", "set_default_active_thread_percentage", "50"}, {3, 1, 1, 0}},
    {{"restart-worker"}, {3, 1, 1, 1}},
    {{"kill", "ID", "--grace", "100"}, {3, 1, 1, 1}},
    {{"completion", "bash"}, {0, 0, 0, 0}},
    {{"quit", "-y"}, {3, 1, 1, 0}},
};

static void try(const struct tried *t, enum state state, const char *id)
{
    const uint64_t deadline = test_deadline(SOON_MS);
    const char *words[5];
    int status;

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        words[i] = t->words[i] && !strcmp(t->words[i], "ID") ? id : t->words[i];
    status = gsctl(words[0], words[1], words[2], words[3], words[4], NULL);
    if (status != t->status[state] && (t->status[state] != EITHER || status > 1) &&
        (t->status[state] != OTHERS || (status != 0 && status != 3)))
        test_fail(__FILE__, __LINE__, "gsctl %s %s: %d instead of %d: %s", words[0],
                  words[1] ? words[1] : "", status, t->status[state], output);
    if (clock_ns() > deadline)
        test_fail(__FILE__, __LINE__, "gsctl %s has taken too long: %s", words[0], output);
    /* Whoever is refused is told why. */
    if (status != 0)
        CHECK_TEXT(output, "gsctl: ");
}

static void all_try(enum state state, const char *id)
{
    for (size_t i = 0; i < ARRAY_SIZE(tried); i++)
        try(&tried[i], state, id);
}

static gs_session attach(struct server *server, char id[24])
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    snprintf(id, 24, "%llu", (unsigned long long)desc.session_id);
    return session;
}

/* A server with a log that gsctl finds. */
static struct server *logging_server_start(void)
{
    static const char *arguments[] = {"--log-file", NULL, NULL};

    close(test_file_open(&arguments[1]));
    return server_start(&(struct server_options){.arguments = arguments});
}

/* ---- Is it all of them? ---------------------------------------------------------------------- */

static bool is_tried(const char *command, size_t length)
{
    for (size_t i = 0; i < ARRAY_SIZE(tried); i++) {
        if (strlen(tried[i].words[0]) == length && !strncmp(tried[i].words[0], command, length))
            return true;
    }
    return false;
}

static void every_command_of_the_help_is_tried(void)
{
    unsigned commands = 0;

    GSCTL_OK("--help");
    for (const char *line = output; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "  ", 2) != 0 || line[2] < 'a' || line[2] > 'z')
            continue;
        if (!is_tried(line + 2, strcspn(line + 2, " ")))
            test_fail(__FILE__, __LINE__, "not tried: %.30s", line);
        commands++;
    }
    CHECK(commands >= 21);
}

/* ---- What is wrong --------------------------------------------------------------------------- */

static void without_a_server_each_command_says_so(void)
{
    setenv("GSHARE_INSTANCE", "no-such-server", 1);
    all_try(NOBODY, "1");
}

static void wrong_lines_try(void)
{
    static const char long_name[] = "a-name-of-more-than-31-characters";
    static const char *const lines[][5] = {{"kill"},
                                           {"kill", "1", "--pid", "1"},
                                           {"set"},
                                           {"set", "1"},
                                           {"set", "--weight", "2"},
                                           {"trust", "no-such-user"},
                                           {"reserve", "r"},
                                           {"reserve", "r", "--sms", "0"},
                                           {"reserve", long_name, "--sms", "1"},
                                           {"release", long_name},
                                           {"provision", "nonsense"},
                                           {"mps", "nonsense"},
                                           {"mps", "get_server_status"}};

    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        const char *const *words = lines[i];
        const int status = gsctl(words[0], words[1], words[2], words[3], words[4], NULL);

        if (status != 2)
            test_fail(__FILE__, __LINE__, "gsctl %s %s: %d: %s", words[0], words[1] ? words[1] : "",
                      status, output);
        CHECK_TEXT(output, "gsctl: ");
    }
}

static void a_wrong_line_is_wrong_with_and_without_a_server(void)
{
    struct server *server = server_start(NULL);

    wrong_lines_try();
    server_stop(server);
    setenv("GSHARE_INSTANCE", "no-such-server", 1);
    wrong_lines_try();
}

static void with_a_stopped_supervisor_each_command_gives_up_in_time(void)
{
    struct server *server = logging_server_start();
    char id[24];
    gs_session session = attach(server, id);
    pid_t supervisor = server_supervisor(server);

    CHECK_EQUAL(kill(supervisor, SIGSTOP), 0);
    all_try(STOPPED, id);
    CHECK_EQUAL(kill(supervisor, SIGCONT), 0);
    /* Nothing of it was done meanwhile, or is done now: who has asked is gone. */
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void stranger_run(void *argument)
{
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    all_try(STRANGER, argument);
    /* What says who may do it. */
    CHECK_EQUAL(gsctl("set", "--default", "--weight", "3", NULL), 1);
    CHECK_TEXT(output, "; run gsctl as root");
}

static void another_user_may_look_and_change_nothing(void)
{
    struct server *server;
    gs_session session;
    char *id;

    if (geteuid() != 0)
        test_skip("only root can become another user");
    server = logging_server_start();
    id = shared_alloc(24);
    session = attach(server, id);
    tenant_join(tenant_start(stranger_run, id));
    GSCTL_OK("get");
    CHECK_TEXT(output, "nothing is set\n");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Kills workers until the server gives the device up for a while. */
static void device_fail(struct server *server)
{
    pid_t worker;

    CHECK_WITHIN(30000, gsctl("status", NULL) == 0 &&
                            (strstr(output, "  failed") ||
                             ((worker = server_worker_pid(server)) && kill(worker, SIGKILL) < 0)));
}

static void with_a_device_that_failed_each_command_answers(void)
{
    struct server *server = logging_server_start();
    char id[24];
    gs_session session = attach(server, id);

    for (size_t i = 0; i < ARRAY_SIZE(tried); i++) {
        device_fail(server); /* a next worker may have come */
        try(&tried[i], LOST, id);
    }
    tenant_wait(server->pid, 10);
    server->pid = 0;
    gs_detach(session);
}

static const struct test tests[] = {
    TEST(every_command_of_the_help_is_tried),
    TEST(without_a_server_each_command_says_so),
    TEST(a_wrong_line_is_wrong_with_and_without_a_server),
    TEST_WITHIN(with_a_stopped_supervisor_each_command_gives_up_in_time, 120),
    TEST(another_user_may_look_and_change_nothing),
    TEST_WITHIN(with_a_device_that_failed_each_command_answers, 120),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
