/* test_log.c - the log of the server: a line for each event, with its time, whom it is about, who
 * did it, and the values before and after. */
#include <pwd.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/harness.h"

static char output[8192];

static int gsctl(const char *a, const char *b, const char *c, const char *d)
{
    const char *const arguments[] = {"bin/gsctl", a, b, c, d, NULL};

    return program_run(arguments, output, sizeof(output));
}

/* Lines that match an extended regular expression. */
static unsigned lines(const struct server *server, const char *pattern)
{
    FILE *log = fopen(server->log, "r");
    unsigned count = 0;
    regex_t expression;
    char line[1024];

    CHECK(log && regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB) == 0);
    while (fgets(line, sizeof(line), log)) {
        line[strcspn(line, "\n")] = '\0';
        count += regexec(&expression, line, 0, NULL, 0) == 0;
    }
    regfree(&expression);
    fclose(log);
    return count;
}

static void every_line_has_date_time_zone_and_process(void)
{
    struct server *server = server_start(
        &(struct server_options){.environment = (const char *const[]){"TZ=XYZ+3:30", NULL}});

    CHECK_OK(gs_detach(attach_named("a")));
    CHECK_WITHIN(5000, lines(server, " event=detached "));
    CHECK(lines(server, "") > 2);
    CHECK_EQUAL(lines(server, "^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]"
                              "\\.[0-9]{3}-03:30 gshared\\[[0-9]+\\] "),
                lines(server, ""));
    server_stop(server);
}

static void a_device_is_told_with_its_memory_as_people_read_it(void)
{
    struct server *server = server_start(NULL);

    CHECK_EQUAL(lines(server, " event=device-ready device=0 name=.+ memory=\"([0-9]{1,4} [KMG]iB|"
                              "[0-9]+ bytes \\([0-9.]+ [KMGT]iB\\))\" sms=[0-9]+ driver="),
                1);
    server_stop(server);
}

static void a_session_is_told_with_its_grant_and_its_totals(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_named("a \"b\"");
    gs_devptr memory;
    char text[256], bytes[1000] = "";

    CHECK_OK(gs_malloc(session, sizeof(bytes), &memory));
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(gs_memcpy_htod(session, memory, bytes, sizeof(bytes)));
    CHECK_OK(gs_detach(session));
    snprintf(text, sizeof(text),
             " event=attached session=1 user=[^ ]+ uid=%u pid=%d name=\"a \\\\\"b\\\\\"\" device=0 "
             "sms=[0-9]+ exclusive=no class=normal priority=0 weight=1 mem=[0-9]+[KMGT] "
             "fenced=(yes|no)$",
             (unsigned)geteuid(), (int)getpid());
    CHECK_EQUAL(lines(server, text), 1);
    CHECK_WITHIN(5000, lines(server, " event=detached session=1 .* by=client seconds=[0-9]+\\.[0-9]"
                                     "{3} launches=0 copies=3 copied_bytes=3000 "
                                     "gpu_seconds=[0-9.]+ deadlines_missed=0$") == 1);
    server_stop(server);
}

static void a_session_is_told_with_the_limit_of_memory_that_counts(void)
{
    struct server *server = server_start(NULL);

    CHECK_EQUAL(gsctl("set", "--default", "--user-mem", "96M"), 0);
    gs_session session = attach_named("limited");
    CHECK_WITHIN(5000, lines(server, " event=attached .* name=limited .* mem=96M ") == 1);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_signal_is_told_with_the_user_who_sent_it(void)
{
    struct server *server = server_start(NULL);
    const struct passwd *user = getpwuid(geteuid());
    char pattern[128];

    CHECK(user != NULL);
    CHECK(kill(server->pid, SIGTERM) == 0);
    snprintf(pattern, sizeof(pattern), " event=signal signal=TERM by=%s by_pid=%d$", user->pw_name,
             (int)getpid());
    CHECK_WITHIN(10000, lines(server, pattern) == 1);
    CHECK_WITHIN(10000, lines(server, " event=ended ") == 1);
}

/* The keeper's, which gsctl status has as the server's, and the worker's. */
static void lines_have_the_pids_that_gsctl_shows(void)
{
    struct server *server = server_start(NULL);
    const pid_t first = server_supervisor(server);
    char text[64];

    snprintf(text, sizeof(text), " gshared\\[%d\\] ", (int)server->pid);
    CHECK(kill(first, SIGKILL) == 0);
    CHECK_WITHIN(10000, server_log_lines(server, "has taken the place") == 1);
    gs_session session = attach_named("seen");
    CHECK_WITHIN(5000, lines(server, " event=attached ") == 1); /* a moment after the answer */
    CHECK_EQUAL(lines(server, text), lines(server, " gshared\\["));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void totals_are_told_of_sessions_that_end_with_the_server(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_named("last");

    server_stop(server);
    CHECK_EQUAL(lines(server, " event=detached session=1 .* by=server .* launches=0 "), 1);
    gs_detach(session);
}

static void a_refusal_is_told_with_its_reason(void)
{
    struct server *server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--max-tenants", "1", NULL}});
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session first = attach_named("first"), second;
    char pattern[256];

    params.name = "second";
    CHECK_STATUS(gs_attach(&params, &second), GS_ERR_LIMIT);
    snprintf(pattern, sizeof(pattern),
             " event=refused user=[^ ]+ uid=[0-9]+ pid=%d name=second "
             "status=GS_ERR_LIMIT reason=\"the server has its maximum of 1 ",
             (int)getpid());
    CHECK_EQUAL(lines(server, pattern), 1);
    CHECK_OK(gs_detach(first));
    server_stop(server);
}

static void a_tenant_at_its_limit_of_memory_is_told_with_what_it_asked_for(void)
{
    struct server *server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--mem-limit", "8M", NULL}});
    gs_session session = attach_named("hungry");
    gs_devptr memory;

    CHECK_OK(gs_malloc(session, 4 << 20, &memory));
    CHECK_STATUS(gs_malloc(session, 6 << 20, &memory), GS_ERR_QUOTA);
    CHECK_EQUAL(lines(server,
                      " event=memory session=1 user=[^ ]+ uid=[0-9]+ name=hungry "
                      "asked=6291456 used=4194304 limit=8388608 status=GS_ERR_QUOTA "
                      "reason=\"6 MiB wanted; 4 MiB of the session's limit of 8 MiB are in use\"$"),
                1);
    CHECK_STATUS(gs_malloc(session, (size_t)1 << 60, &memory), GS_ERR_QUOTA);
    CHECK_EQUAL(lines(server, " event=memory .* asked=1152921504606846976 .* limit=8388608 "), 1);
    /* A program may ask again without end. */
    for (unsigned i = 0; i < 100; i++)
        CHECK_STATUS(gs_malloc(session, 6 << 20, &memory), GS_ERR_QUOTA);
    CHECK(lines(server, " event=memory ") < 30);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_fault_that_ends_one_session_is_told_with_it(void)
{
    static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry trapping() { trap; ret; }\n";
    struct server *server = server_start(NULL);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    gs_module module;
    gs_kernel kernel;
    char line[256];

    params.name = "trapper";
    params.fence = GS_FENCE_ON;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_module_load(session, ptx, 0, &module));
    CHECK_OK(gs_kernel_get(module, "trapping", &kernel));
    CHECK_OK(gs_launch(NULL, kernel, &config, NULL));
    CHECK_WITHIN(5000, gs_sync(session) == GS_ERR_FAULT);
    snprintf(
        line, sizeof(line),
        " event=fault session=1 user=[^ ]+ uid=%d pid=%d name=trapper kernel=trapping stream=0 "
        "launch=1 lost_launches=[01] lost_copies=0 lost_bytes=0 status=GS_ERR_FAULT "
        "reason=\".*line 4",
        (int)getuid(), (int)getpid());
    CHECK_EQUAL(lines(server, line), 1);
    gs_detach(session);
    server_stop(server);
}

static void a_change_is_told_with_old_and_new_value_and_who_did_it(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_named("tenant");

    CHECK_EQUAL(gsctl("set", "--default", "--inflight", "40"), 0);
    CHECK_EQUAL(gsctl("set", "--default", "--inflight", "50"), 0);
    CHECK_EQUAL(gsctl("set", "1", "--weight", "7"), 0);
    CHECK_EQUAL(gsctl("set", "--default", "--unset", "all"), 0);
    CHECK_EQUAL(
        lines(server,
              " event=limits by=[^ ]+ by_pid=[0-9]+ for=default inflight=40 inflight_was=none$"),
        1);
    CHECK_EQUAL(
        lines(server,
              " event=limits by=[^ ]+ by_pid=[0-9]+ for=default inflight=50 inflight_was=40$"),
        1);
    CHECK_EQUAL(
        lines(server, " event=limits by=[^ ]+ by_pid=[0-9]+ for=session session=1 weight=7 "), 1);
    CHECK_EQUAL(
        lines(server,
              " event=limits by=[^ ]+ by_pid=[0-9]+ for=default inflight=none inflight_was=50$"),
        1);
    CHECK_EQUAL(gsctl("provision", "uniform", NULL, NULL), 0);
    CHECK_EQUAL(
        lines(server, " event=provision by=[^ ]+ by_pid=[0-9]+ mode=uniform mode_was=exact$"), 1);
    CHECK_EQUAL(gsctl("kill", "1", NULL, NULL), 0);
    CHECK_EQUAL(
        lines(server, " event=kill by=[^ ]+ by_pid=[0-9]+ session=1 .* name=tenant grace_ms="), 1);
    gs_detach(session);
    CHECK_WITHIN(5000, lines(server, " event=detached session=1 .* by=operator ") == 1);
    server_stop(server);
}

static void a_policy_file_that_is_read_again_is_told_by_what_it_changes(void)
{
    char path[] = "/tmp/gshare-log-XXXXXX", pattern[256];
    int fd = mkstemp(path);
    FILE *file;

    CHECK(fd >= 0 && close(fd) == 0 && (file = fopen(path, "w")) &&
          fputs("[default]\nmem = 1G\n[user 4711]\nweight = 3\n", file) >= 0 && fclose(file) == 0);
    struct server *server = server_start(&(struct server_options){
        .arguments = (const char *const[]){"--config", path, NULL}, .notified = true});
    CHECK((file = fopen(path, "w")) &&
          fputs("[server]\nmem-limit = 1M\n[default]\nmem = 2G\n", file) >= 0 && fclose(file) == 0);
    CHECK(kill(server->pid, SIGHUP) == 0);
    server_notified(server);
    CHECK_TEXT(server_notified(server), "not in force");
    CHECK_EQUAL(lines(server, "event=limits"), 0);
    CHECK((file = fopen(path, "w")) &&
          fputs("[server]\nmem-limit = 4G\n[default]\nmem = 2G\n", file) >= 0 && fclose(file) == 0);
    CHECK(kill(server->pid, SIGHUP) == 0);
    server_notified(server);
    CHECK_TEXT(server_notified(server), "read again");
    snprintf(pattern, sizeof(pattern), " event=limits by=%s for=default mem=2G mem_was=1G$", path);
    CHECK_EQUAL(lines(server, pattern), 1);
    snprintf(pattern, sizeof(pattern), " by=%s for=4711 weight=none weight_was=3$", path);
    CHECK_EQUAL(lines(server, pattern), 1);
    snprintf(pattern, sizeof(pattern), " by=%s for=server mem-limit=4G mem-limit_was=none$", path);
    CHECK_EQUAL(lines(server, pattern), 1);
    CHECK(unlink(path) == 0);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(every_line_has_date_time_zone_and_process),
    TEST(a_device_is_told_with_its_memory_as_people_read_it),
    TEST(a_session_is_told_with_its_grant_and_its_totals),
    TEST(a_session_is_told_with_the_limit_of_memory_that_counts),
    TEST(a_signal_is_told_with_the_user_who_sent_it),
    TEST(lines_have_the_pids_that_gsctl_shows),
    TEST(totals_are_told_of_sessions_that_end_with_the_server),
    TEST(a_refusal_is_told_with_its_reason),
    TEST(a_tenant_at_its_limit_of_memory_is_told_with_what_it_asked_for),
    TEST(a_fault_that_ends_one_session_is_told_with_it),
    TEST(a_change_is_told_with_old_and_new_value_and_who_did_it),
    TEST(a_policy_file_that_is_read_again_is_told_by_what_it_changes),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
