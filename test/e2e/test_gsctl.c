/* test_gsctl.c - what an operator sees of gsctl: on a terminal, in a pipe, and when it fails. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl_run.h"
#include "harness/harness.h"
#include "terminal.h"

/* ---- Helpers --------------------------------------------------------------------------------- */

static struct terminal terminal;

/* Attaches under this name; id receives the session's number. */
static gs_session attach(const char *name, const char *reservation, char id[24])
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;

    params.name = name;
    params.reservation = reservation;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_session_info(session, &desc));
    if (id)
        snprintf(id, 24, "%llu", (unsigned long long)desc.session_id);
    return session;
}

/* ---- Quit ------------------------------------------------------------------------------------ */

static void server_ended(struct server *server)
{
    int status = tenant_wait(server->pid, 10);

    server->pid = 0;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void quit_asks_on_a_terminal_before_it_ends_tenants(void)
{
    static const char *const quit[] = {"bin/gsctl", "quit", NULL};
    struct server *server = server_start(NULL);
    gs_session first, second;

    first = attach("first", NULL, NULL);
    second = attach("second", NULL, NULL);
    terminal_start(&terminal, 80, 24, quit);
    terminal_expect(&terminal, "at once, 2 tenants of 1 user. Go on? [y/N]");
    terminal_type(&terminal, "\n");
    CHECK_EQUAL(WEXITSTATUS(terminal_end(&terminal)), 1);
    CHECK_TEXT(terminal.text, "the server goes on");
    CHECK_OK(gs_detach(second));
    server_wait_tenants(server, 1, 10000);
    terminal_start(&terminal, 80, 24, quit);
    terminal_expect(&terminal, "1 tenant of 1 user.");
    terminal_type(&terminal, "y\n");
    CHECK_EQUAL(WEXITSTATUS(terminal_end(&terminal)), 0);
    CHECK_TEXT(terminal.text, "has ended");
    server_ended(server);
    gs_detach(first);
}

static void quit_does_not_ask_where_nobody_is_to_be_asked(void)
{
    static const char *const yes[] = {"bin/gsctl", "quit", "-y", NULL};
    static const char *const plain[] = {"bin/gsctl", "quit", NULL};
    struct server *server = server_start(NULL);
    gs_session session = attach("there", NULL, NULL);

    terminal_start(&terminal, 80, 24, yes);
    CHECK_EQUAL(WEXITSTATUS(terminal_end(&terminal)), 0);
    CHECK(strstr(terminal.text, "[y/N]") == NULL);
    server_ended(server);
    gs_detach(session);
    server = server_start(NULL);
    terminal_start(&terminal, 80, 24, plain);
    CHECK_EQUAL(WEXITSTATUS(terminal_end(&terminal)), 0); /* no tenant */
    server_ended(server);
    server = server_start(NULL);
    session = attach("there", NULL, NULL);
    GSCTL_OK("quit"); /* no terminal */
    server_ended(server);
    gs_detach(session);
}

static void get_breaks_a_terminals_lines_between_settings(void)
{
    static const char *const get[] = {"bin/gsctl", "get", "--default", NULL};
    struct server *server = server_start(NULL);

    GSCTL_OK("set", "--default", "--priority=0", "--class=normal", "--weight=100", "--mem=512M",
             "--user-mem=1G", "--user-sessions=4000", "--inflight=1000");
    terminal_start(&terminal, 60, 24, get);
    CHECK_EQUAL(WEXITSTATUS(terminal_end(&terminal)), 0);
    CHECK_TEXT(terminal.text, "default: priority 0, class normal, weight 100, mem 512M,\r\n"
                              "         user-mem 1G, user-sessions 4000, inflight 1000\r\n");
    GSCTL_OK("get", "--default");
    CHECK_TEXT(output, "mem 512M, user-mem 1G, user-sessions 4000, inflight 1000\n");
    server_stop(server);
}

/* Whoever has asked may have gone. */
static void status_tells_that_the_server_is_to_end(void)
{
    static const char *const patient[] = {"bin/gsctl", "mps", "quit", NULL};
    static const char *const quit[] = {"bin/gsctl", "quit", "-y", "-t", "1000", NULL};
    struct server *server = server_start(NULL);
    gs_session session = attach("there", NULL, NULL);

    GSCTL_OK("status", "--json");
    CHECK_TEXT(output, "\"ending\":\"\"");
    terminal_start(&terminal, 80, 24, patient);
    terminal_expect(&terminal, "admits nobody else");
    GSCTL_OK("status");
    CHECK_TEXT(output, "it admits no new tenants, and ends with the last one\n");
    CHECK_EQUAL(gsctl("drain", "--no", NULL), 1);
    CHECK_TEXT(output, "gsctl: the server is ending and admits nobody");
    CHECK_EQUAL(gsctl("drain", NULL), 1);
    CHECK_TEXT(output, "gsctl: the server is ending and admits nobody");
    terminal_type(&terminal, "\003");
    terminal_end(&terminal);
    terminal_start(&terminal, 80, 24, quit);
    CHECK_WITHIN(10000, gsctl("status", NULL) == 0 && strstr(output, "s at the latest"));
    /* Of the tenants' time, not of the workers', which comes after it. */
    terminal_expect(&terminal, "tenants may detach, and nobody else is admitted; 99");
    terminal_type(&terminal, "\003");
    terminal_end(&terminal);
    GSCTL_OK("status");
    CHECK_TEXT(output, "it admits no new tenants, and ends with the last one, in ");
    GSCTL_OK("status", "--json");
    CHECK_TEXT(output, "\"ending\":\"it admits");
    CHECK_OK(gs_detach(session));
    server_ended(server);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void errors_say_what_to_do(void)
{
    struct server *server;

    CHECK_EQUAL(gsctl("ps", "--instance", "no-such-server", NULL), 3);
    CHECK_TEXT(output, "no gshare server 'no-such-server' runs; start one: gshared -d --instance "
                       "no-such-server");
    CHECK_EQUAL(gsctl("stat", NULL), 2);
    CHECK_TEXT(output, "is 'status' meant?");
    CHECK_EQUAL(gsctl("explain", NULL), 2);
    CHECK_TEXT(output, "an argument is missing: gsctl explain SESSION");
    CHECK_EQUAL(gsctl("help", "kill", NULL), 0);
    CHECK_TEXT(output, "Usage: gsctl kill SESSION|--pid PID|--user NAME");
    CHECK_EQUAL(gsctl("help", "nothing", NULL), 2);
    CHECK_EQUAL(gsctl("ps", "--yes", NULL), 2);
    CHECK_TEXT(output, "ps has no --yes");
    server = server_start(NULL);
    CHECK_EQUAL(gsctl("kill", "99", NULL), 1);
    CHECK_TEXT(output, "see gsctl ps");
    server_stop(server);
}

/* 0 done, 1 refused, 2 wrong usage, 3 no server: of every command. */
static void every_command_ends_with_the_status_that_its_help_names(void)
{
    static const struct {
        const char *command, *operand, *option, *value;
    } right[] = {{"status", NULL, NULL, NULL},
                 {"ps", NULL, NULL, NULL},
                 {"info", NULL, NULL, NULL},
                 {"get", NULL, NULL, NULL},
                 {"dump", NULL, NULL, NULL},
                 {"top", NULL, NULL, NULL},
                 {"metrics", NULL, NULL, NULL},
                 {"mps", "get_server_list", NULL, NULL},
                 {"quit", NULL, NULL, NULL},
                 {"kill", "99", NULL, NULL},
                 {"restart-worker", NULL, NULL, NULL},
                 {"set", "--default", "--weight", "3"},
                 {"trust", "root", NULL, NULL},
                 {"explain", "99", NULL, NULL},
                 {"reserve", "r", "--sms", "2"},
                 {"release", "r", NULL, NULL},
                 {"provision", "exact", NULL, NULL},
                 {"drain", NULL, NULL, NULL},
                 {"trace", "-o/dev/null", "--seconds", "1"},
                 {"log", NULL, NULL, NULL}},
      wrong[] = {{"set", "--default", "--weight", "0"},
                 {"set", "--default", "--weight", "1001"},
                 {"set", "--default", "--percentage", "101"},
                 {"set", "--default", "--percentage", "0"},
                 {"set", "--default", "--mem", "1M"},
                 {"set", "--default", "--user-mem", "1"},
                 {"set", "--default", "--inflight", "4097"},
                 {"set", "--default", "--kernel-limit", "86400001"},
                 {"set", "--default", "--sms", "0"},
                 {"set", "--default", "--class", "best"},
                 {"set", "--default", "--unset", "wait"},
                 {"set", "--default", NULL, NULL},
                 {"set", "no-session", "--weight", "3"},
                 {"reserve", "r", "--sms", "0"},
                 {"reserve", "r", NULL, NULL},
                 {"kill", NULL, NULL, NULL},
                 {"kill", "99", "--grace", "86400001"},
                 {"restart-worker", "--device", "x", NULL},
                 {"drain", "more", NULL, NULL},
                 {"drain", "--device", "x", NULL},
                 {"quit", "--timeout", "soon", NULL},
                 {"status", "--watch=0", NULL, NULL},
                 {"trust", "no-such-user", NULL, NULL},
                 {"provision", "evenly", NULL, NULL},
                 {"ps", "more", NULL, NULL},
                 {"ps", "--", "more", NULL},
                 {"ps", "--instance", "a/b", NULL},
                 {"trace", NULL, NULL, NULL},
                 {"log", "more", NULL, NULL},
                 {"trace", "-o/dev/null", "--seconds", "0"},
                 {"trace", "-o/dev/null", "--seconds", "-1"},
                 {"trace", "-o/dev/null", "--tenant", "no-such-user"},
                 {"trace", "-o/dev/null", "more", NULL},
                 {"explain", "x", NULL, NULL}},
      refused[] = {{"set", "99", "--weight", "3"},
                   {"kill", "99", NULL, NULL},
                   {"explain", "99", NULL, NULL},
                   {"release", "r", NULL, NULL},
                   {"get", "99", NULL, NULL},
                   {"reserve", "r", "--sms", "500"},
                   {"get", "--device", "7", NULL},
                   {"drain", "--device", "7", NULL},
                   {"trace", "-o/no/such/folder", NULL, NULL}};
    struct server *server;

    setenv("GSHARE_INSTANCE", "no-such-server", 1);
    for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
        CHECK_EQUAL(
            gsctl(right[i].command, right[i].operand, right[i].option, right[i].value, NULL), 3);
        CHECK_EQUAL(gsctl(right[i].command, "--no-such-option", NULL), 2);
        GSCTL_OK(right[i].command, "--help");
        CHECK_TEXT(output, "Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 no such");
    }
    server = server_start(NULL);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        CHECK_EQUAL(
            gsctl(wrong[i].command, wrong[i].operand, wrong[i].option, wrong[i].value, NULL), 2);
        CHECK_TEXT(output, "--help'.\n");
    }
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
        CHECK_EQUAL(gsctl(refused[i].command, refused[i].operand, refused[i].option,
                          refused[i].value, NULL),
                    1);
    GSCTL_OK("get");
    CHECK_TEXT(output, "nothing is set\n");
    server_stop(server);
}

static void a_setting_that_changes_nothing_says_so(void)
{
    struct server *server = server_start(NULL);
    char id[24];
    gs_session session = attach("set", NULL, id);

    GSCTL_OK("set", id, "--weight", "3");
    CHECK_EQUAL(strlen(output), 0);
    GSCTL_OK("set", id, "--weight", "3");
    CHECK_TEXT(output, "nothing has changed: this is set already");
    /* What is set for everybody is tighter: the session gets nothing by this. */
    GSCTL_OK("set", "--default", "--class", "normal");
    GSCTL_OK("set", id, "--class", "latency");
    CHECK_TEXT(output, "set, but nothing changes for session");
    GSCTL_OK("set", "--default", "--unset", "class");
    GSCTL_OK("set", id, "--class", "best-effort");
    CHECK_EQUAL(strlen(output), 0);
    GSCTL_OK("set", "--default", "--unset", "mem");
    CHECK_TEXT(output, "nothing has changed: this is not set");
    GSCTL_OK("set", "--user", "4711", "--mem", "64M");
    CHECK_EQUAL(strlen(output), 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Info ------------------------------------------------------------------------------------ */

/* The map's line that begins so, up to its end. */
static const char *line_of(const char *begin)
{
    static char line[256];
    const char *at = output;

    while (at && strncmp(at, begin, strlen(begin)) != 0) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!at)
        test_fail(__FILE__, __LINE__, "no line begins with \"%s\": %s", begin, output);
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

static void info_draws_who_may_run_where(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_SMS=24", NULL};
    const struct server_options soft = {.device = "soft", .environment = environment};
    static const char *const info[] = {"bin/gsctl", "info", NULL};
    struct server *server = server_start(&soft);
    char shared_id[24], alone_id[24], begin[64];
    gs_session shared = attach("shared", NULL, shared_id), alone = attach("alone", NULL, alone_id);

    GSCTL_OK("reserve", "render", "--mask", "16-23");
    GSCTL_OK("set", alone_id, "--mask", "0-3", "--exclusive");
    GSCTL_OK("set", shared_id, "--mask", "4-7");
    unsetenv("COLUMNS");
    GSCTL_OK("info");
    CHECK_TEXT(output, "24 SMs\n");
    CHECK_TEXT(output, "8 granted (4 exclusive), 8 reserved, 8 free");
    CHECK_TEXT(output, "SM                  0         10        20\n");
    CHECK_TEXT(line_of("reservation render"), "  ................RRRRRRRR");
    snprintf(begin, sizeof(begin), "%s ", alone_id);
    CHECK_TEXT(line_of(begin), "alone");
    CHECK_TEXT(line_of(begin), "  XXXX....................");
    snprintf(begin, sizeof(begin), "%s ", shared_id);
    CHECK_TEXT(line_of(begin), "  ....####................");
    CHECK_TEXT(line_of("all "), "  XXXX####........RRRRRRRR");
    CHECK_TEXT(output, "X exclusive");
    CHECK(strchr(output, 033) == NULL);
    /* A narrow terminal: the SMs go on below. */
    setenv("COLUMNS", "36", 1);
    GSCTL_OK("info");
    CHECK_TEXT(output, "  0         10\n");
    CHECK_TEXT(output, "  20\n");
    unsetenv("COLUMNS");
    /* Colours on a terminal, unless NO_COLOR says otherwise. */
    terminal_start(&terminal, 80, 24, info);
    terminal_end(&terminal);
    CHECK_TEXT(terminal.text, "\033[1;35mXXXX\033[0m\033[32m####");
    GSCTL_OK("info", "--json");
    CHECK_TEXT(output, "\"granted\":\"0-7\",\"exclusive\":\"0-3\",\"reserved\":\"16-23\"");
    CHECK_TEXT(output, "\"free\":\"8-15\"");
    CHECK_TEXT(output, "\"name\":\"render\",\"sm_count\":8,\"sms\":\"16-23\"");
    CHECK_OK(gs_detach(alone));
    CHECK_OK(gs_detach(shared));
    server_stop(server);
}

/* ---- Explain --------------------------------------------------------------------------------- */

static void explain_says_who_says_what(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_SMS=24", NULL};
    static const char *const arguments[] = {"--mem-limit", "512M", NULL};
    struct server *server = server_start(&(struct server_options){
        .device = "soft", .environment = environment, .arguments = arguments});
    char id[24];
    gs_session session = attach("asks", NULL, id), other;
    gs_qos qos = GS_QOS_INIT;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 8;
    qos.priority = 1;
    CHECK_OK(gs_set_qos(session, &qos));
    GSCTL_OK("explain", id);
    CHECK_TEXT(output, "8 of 24: ");
    CHECK_TEXT(output, "* the program: sms 8\n");
    CHECK_TEXT(output, "memory         512 MiB\n               * gshared --mem-limit: 512 MiB\n");
    CHECK_TEXT(output, "inflight       the class's\n               * the default\n");
    CHECK_TEXT(output, "class          normal\n               * the default: normal\n");
    CHECK_TEXT(output, "* the program: 1\n"); /* priority */
    CHECK_TEXT(output, "               * its user: ");
    CHECK_TEXT(output, "  gshared --fence: auto\n");
    /* What takes nothing from a session is no reason for what it has. */
    GSCTL_OK("set", "--default", "--percentage", "100", "--class", "normal", "--priority", "1");
    GSCTL_OK("explain", id);
    CHECK_TEXT(output, "  set --default: percentage 100\n");
    CHECK_TEXT(output, "  set --default: class normal\n");
    CHECK_TEXT(output, "  set --default: priority 1\n");
    CHECK(strstr(output, "* set --default") == NULL);
    GSCTL_OK("set", "--default", "--unset", "all");
    /* The tightest is marked, and what it has overruled is there too. */
    GSCTL_OK("set", "--default", "--percentage", "50", "--mem", "64M");
    GSCTL_OK("set", "--user", "0", "--class", "best-effort");
    GSCTL_OK("set", id, "--sms", "4", "--kernel-limit", "60000");
    GSCTL_OK("explain", id);
    CHECK_TEXT(output, "4 of 24: ");
    CHECK_TEXT(output, "  the program: sms 8\n");
    CHECK_TEXT(output, "  set --default: percentage 50\n");
    CHECK_TEXT(output, "* set for this session: sms 4\n");
    CHECK_TEXT(output, "memory         64.0 MiB\n");
    CHECK_TEXT(output, "  gshared --mem-limit: 512 MiB\n");
    CHECK_TEXT(output, "* set --default: mem 64M\n");
    CHECK_TEXT(output, "60000 ms\n               * set for this session: kernel-limit 60000\n");
    if (getuid() == 0)
        CHECK_TEXT(output, "best-effort\n                 the default: normal\n"
                           "               * set --user: class best-effort\n");
    GSCTL_OK("explain", id, "--json");
    CHECK_TEXT(output, "{\"from\":\"set --default\",\"says\":\"mem 64M\",\"counts\":1}");
    /* Others' exclusive SMs. */
    GSCTL_OK("set", id, "--unset", "all");
    GSCTL_OK("set", "--default", "--unset", "all");
    CHECK_OK(gs_set_qos(session, &(gs_qos)GS_QOS_INIT));
    other = attach("alone", NULL, NULL);
    qos.affinity.sm_count = 4;
    qos.affinity.exclusive = 1;
    CHECK_OK(gs_set_qos(other, &qos));
    CHECK_WITHIN(10000, gsctl("explain", id, NULL) == 0 && strstr(output, "20 of 24"));
    CHECK_TEXT(output, "* others: reservations and exclusive SMs");
    CHECK_EQUAL(gsctl("explain", "99", NULL), 1);
    CHECK_TEXT(output, "there is no session 99: see gsctl ps");
    CHECK_EQUAL(gsctl("explain", NULL), 2);
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void explain_names_the_default_where_limits_are_above_the_device(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_SMS=24", "GSHARE_SOFT_MEM=1G", NULL};
    struct server *server =
        server_start(&(struct server_options){.device = "soft", .environment = environment});
    char id[24];
    gs_session session = attach("free", NULL, id);

    GSCTL_OK("set", "--default", "--percentage", "100", "--mem", "8G");
    GSCTL_OK("explain", id);
    CHECK_TEXT(output, "                 set --default: percentage 100\n"
                       "               * the default: all\n");
    CHECK_TEXT(output, "memory         1.0 GiB\n"
                       "                 set --default: mem 8G\n"
                       "               * the default: the device's\n");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* The variables of the program's environment are told apart from the program. */
static void explain_names_the_environment(void)
{
    struct server *server = server_start(NULL);
    gs_session session;
    char id[24];

    setenv("GSHARE_ACTIVE_THREAD_PERCENTAGE", "50", 1);
    setenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=64M", 1);
    setenv("CUDA_MPS_CLIENT_PRIORITY", "1", 1);
    session = attach("lowered", NULL, id);
    GSCTL_OK("explain", id);
    CHECK_TEXT(output, "* the program's environment: percentage 50\n");
    CHECK_TEXT(output, "* the program's environment: best-effort\n");
    CHECK_TEXT(output, "* the program's environment: 64.0 MiB\n");
    CHECK(strstr(output, "the program: ") == NULL);
    /* Also when the program has asked again. */
    CHECK_OK(gs_set_qos(session, &(gs_qos)GS_QOS_INIT));
    GSCTL_OK("explain", id);
    CHECK_TEXT(output, "* the program's environment: percentage 50\n");
    CHECK_TEXT(output, "* the program's environment: best-effort\n");
    CHECK_TEXT(output, "* the program's environment: 64.0 MiB\n");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void explain_names_whom_a_session_waits_for(void)
{
    struct server *server = server_start(NULL);
    char holder_id[24], id[24], wanted[64];
    gs_session holder = attach("holder", NULL, holder_id), session = attach("wants", NULL, id);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_kernel spin = kernels_get(kernels_load(holder), "spin_until");
    uint32_t one = 1;
    gs_stream stream;
    gs_devptr flag;

    CHECK_OK(gs_session_info(session, &desc));
    if (desc.sm_granularity == 0) {
        CHECK_OK(gs_detach(session));
        CHECK_OK(gs_detach(holder));
        server_stop(server);
        test_skip("the device has no partitions of SMs");
    }
    CHECK_OK(gs_malloc(holder, sizeof(one), &flag));
    CHECK_OK(gs_stream_create(holder, NULL, &stream));
    CHECK_OK(kernels_launch(stream, spin, 1, 1, (void *[]){&flag}));
    GSCTL_OK("explain", id);
    CHECK(strstr(output, "waits for") == NULL);
    /* The holder keeps its SMs while its kernel runs: gsctl tells that after 1.6 s. */
    snprintf(wanted, sizeof(wanted), "%u", desc.sm_granularity);
    GSCTL_OK("set", id, "--sms", wanted, "--exclusive");
    GSCTL_OK("explain", id);
    snprintf(wanted, sizeof(wanted), "waits for session %s (holder)", holder_id);
    CHECK_TEXT(output, wanted);
    GSCTL_OK("explain", id, "--json");
    snprintf(wanted, sizeof(wanted), "\"waits_for\":%s,", holder_id);
    CHECK_TEXT(output, wanted);
    CHECK_OK(gs_memcpy_htod(holder, flag, &one, sizeof(one)));
    CHECK_OK(gs_stream_sync(holder, stream));
    CHECK_WITHIN(20000, gsctl("explain", id, NULL) == 0 && strstr(output, "for it alone"));
    CHECK(strstr(output, "waits for") == NULL);
    CHECK_OK(gs_detach(session));
    CHECK_OK(gs_detach(holder));
    server_stop(server);
}

/* ---- For programs ---------------------------------------------------------------------------- */

/* The field of the first line of that kind, counted from 0, the kind. */
static const char *dumped(const char *kind, unsigned field)
{
    static char text[256];
    char begin[32];
    const char *at;

    snprintf(begin, sizeof(begin), "%s\t", kind);
    at = line_of(begin);
    while (field-- && (at = strchr(at, '\t')))
        at++;
    CHECK(at != NULL);
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(at, "\t"), at);
    return text;
}

static void dump_has_a_line_for_each_thing_and_tabs_between_fields(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_SMS=24", NULL};
    struct server *server =
        server_start(&(struct server_options){.device = "soft", .environment = environment});
    char id[24];
    gs_session session;

    GSCTL_OK("reserve", "render", "--mask", "16-23");
    GSCTL_OK("set", "--default", "--mem", "64M");
    session = attach("a\tb\nc", "render", id);
    GSCTL_OK("set", id, "--weight", "3");
    GSCTL_OK("dump");
    CHECK(!strcmp(dumped("server", 1), server->instance));
    CHECK_EQUAL(atoi(dumped("server", 4)), server->pid);
    CHECK(!strcmp(dumped("device", 2), "ready"));
    CHECK_EQUAL(atoi(dumped("device", 4)), 24);
    CHECK(!strcmp(dumped("device", 12), "gshare software device"));
    CHECK(!strcmp(line_of("set\tdefault"), "set\tdefault\t-\tmem\t64M"));
    CHECK(!strncmp(line_of("set\tsession"), "set\tsession\t", 12));
    CHECK_TEXT(line_of("set\tsession"), "\tweight\t3");
    CHECK(!strcmp(line_of("reservation"), "reservation\trender\t0\t8\t16-23"));
    CHECK(!strcmp(dumped("session", 1), id));
    CHECK_EQUAL(atoi(dumped("session", 3)), getuid());
    CHECK_EQUAL(atoi(dumped("session", 7)), 8);
    CHECK(!strcmp(dumped("session", 9), "normal"));
    CHECK_EQUAL(atoi(dumped("session", 13)), 64 << 20);
    CHECK(!strcmp(dumped("session", 21), "a?b?c"));
    CHECK(!strcmp(dumped("session", 22), "render"));
    CHECK(!strcmp(dumped("session", 23), "16-23"));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Whether the output ends so: a wait of a second is told before, on standard error. */
static bool printed(const char *text)
{
    const size_t all = strlen(output), length = strlen(text);

    return all >= length && !strcmp(output + all - length, text) &&
           (all == length || !strncmp(output, "gsctl: waiting: ", 16));
}

static void changes_have_json_too(void)
{
    struct server *server = server_start(NULL);
    char id[24], wanted[64];
    gs_session session = attach("there", NULL, id);

    GSCTL_OK("set", id, "--weight", "3", "--json");
    CHECK(printed("{\"remark\":\"\"}\n"));
    GSCTL_OK("set", id, "--weight", "3", "--json");
    CHECK(printed("{\"remark\":\"nothing has changed: this is set already\"}\n"));
    GSCTL_OK("provision", "half", "--json");
    CHECK(printed("{\"remark\":\"\"}\n"));
    GSCTL_OK("ps", "--json");
    CHECK_TEXT(output, "\"user\":\"");
    GSCTL_OK("get", "--json");
    CHECK_TEXT(output, "\"user\":\"");
    GSCTL_OK("kill", id, "--json");
    CHECK(printed("{\"ended_sessions\":1}\n"));
    gs_detach(session);
    GSCTL_OK("quit", "--json");
    snprintf(wanted, sizeof(wanted), "{\"instance\":\"%s\",\"ended_pid\":%d}\n", server->instance,
             (int)server->pid);
    CHECK(printed(wanted));
    server_ended(server);
}

/* ---- Completion ------------------------------------------------------------------------------ */

/* Writes what bash completes the words to, the last of which is begun, to output. */
static void complete(const char *words)
{
    static const char script[] = "source <(bin/gsctl completion bash) || exit 1\n"
                                 "PATH=bin:$PATH\n"
                                 "complete -p gsctl >/dev/null || exit 1\n"
                                 "COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                                 "_gsctl; echo \"${COMPREPLY[*]}\"\n";
    char path[4096], text[1024];
    FILE *bash;
    size_t n;

    snprintf(path, sizeof(path), "%s", test_build_path("."));
    CHECK(chdir(path) == 0);
    snprintf(text, sizeof(text), script, words);
    setenv("COMPLETE", text, 1);
    bash = popen("exec bash -c \"$COMPLETE\" 2>&1", "r");
    CHECK(bash != NULL);
    n = fread(output, 1, sizeof(output) - 1, bash);
    output[n] = 0;
    if (pclose(bash) != 0)
        test_fail(__FILE__, __LINE__, "bash: %s", output);
}

static void bash_completes_commands_options_and_values(void)
{
    struct server *server = server_start(NULL);
    char id[24], line[64], words[128];
    gs_session session = attach("there", NULL, id);

    complete("gsctl p");
    CHECK_TEXT(output, "ps provision\n");
    complete("gsctl set --user-");
    CHECK_TEXT(output, "--user-mem --user-sessions --user-hosts --user-pieces --user-host-mem "
                       "--user-sets --user-driver-mem --user-compile\n");
    complete("gsctl set --class ''");
    CHECK_TEXT(output, "normal latency best-effort\n");
    complete("gsctl set --default --unset wei");
    CHECK_TEXT(output, "weight\n");
    complete("gsctl provision u");
    CHECK_TEXT(output, "uniform\n");
    complete("gsctl trust roo");
    CHECK_TEXT(output, "root");
    complete("gsctl reserve x --s");
    CHECK_TEXT(output, "--sms\n");
    complete("gsctl ps --gr");
    CHECK_EQUAL(strlen(output), 1);
    /* A session of the server that runs. */
    complete("gsctl kill ''");
    snprintf(line, sizeof(line), " %s\n", id);
    CHECK_TEXT(output, line);
    complete("gsctl comp");
    CHECK_TEXT(output, "completion\n");
    /* Sessions and reservations of the server that the line names. */
    GSCTL_OK("reserve", "render", "--sms", "2");
    complete("gsctl release ''");
    CHECK_TEXT(output, "render\n");
    setenv("GSHARE_INSTANCE", "no-such-server", 1);
    complete("gsctl release ''");
    CHECK(strstr(output, "render") == NULL);
    snprintf(words, sizeof(words), "gsctl -n %s release ''", server->instance);
    complete(words);
    CHECK_TEXT(output, "render\n");
    snprintf(words, sizeof(words), "gsctl kill --instance = %s ''", server->instance);
    complete(words);
    CHECK_TEXT(output, line);
    setenv("GSHARE_INSTANCE", server->instance, 1);
    CHECK_EQUAL(gsctl("completion", "fish", NULL), 2);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* What zsh, on its terminal, makes of the words when Tab is typed behind them: its line, or what it
 * lists below. Control-X has it print its line, and empty it. */
static void zsh_completes_to(const char *words, const char *shown)
{
    terminal_type(&terminal, words);
    terminal_type(&terminal, "\t\x18");
    terminal_expect(&terminal, shown);
    terminal_expect(&terminal, "=end=");
}

static void zsh_start(const char *folder)
{
    static const char *const zsh[] = {"/usr/bin/zsh", "-f", "-i", NULL};
    char path[4096], script[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/_gsctl", folder);
    GSCTL_OK("completion", "zsh");
    CHECK_EQUAL(strncmp(output, "#compdef gsctl\n", 15), 0);
    file = fopen(path, "we");
    CHECK(file && fputs(output, file) >= 0 && fclose(file) == 0);
    snprintf(path, sizeof(path), "%s:%s", test_build_path("bin"), getenv("PATH"));
    setenv("PATH", path, 1);
    terminal_start(&terminal, 120, 40, zsh);
    snprintf(script, sizeof(script),
             "PROMPT='> ' fpath=(%s $fpath); autoload -U compinit; compinit -u -D; "
             "shown() { zle -I; print -r -- \"<$BUFFER>=end=\"; BUFFER= }; zle -N shown; "
             "bindkey '^X' shown; echo all''set\n",
             folder);
    terminal_type(&terminal, script);
    terminal_expect(&terminal, "allset");
}

static void zsh_completes_commands_options_and_values(void)
{
    struct server *server = server_start(NULL);
    char id[24], words[128], shown[128], folder[] = "/tmp/gshare-zsh-XXXXXX", path[64];
    gs_session session = attach("there", NULL, id);

    if (access("/usr/bin/zsh", X_OK) != 0) {
        CHECK_OK(gs_detach(session));
        server_stop(server);
        test_skip("there is no zsh");
    }
    GSCTL_OK("reserve", "render", "--sms", "2");
    CHECK(mkdtemp(folder) != NULL);
    zsh_start(folder);
    zsh_completes_to("gsctl restart", "<gsctl restart-worker >");
    zsh_completes_to("gsctl p", "provision"); /* beside ps: they are listed */
    zsh_completes_to("gsctl set --class ", "best-effort");
    zsh_completes_to("gsctl set --default --unset wei", "<gsctl set --default --unset weight >");
    zsh_completes_to("gsctl provision u", "<gsctl provision uniform >");
    zsh_completes_to("gsctl trust roo", "<gsctl trust root >");
    zsh_completes_to("gsctl reserve x --s", "<gsctl reserve x --sms >");
    zsh_completes_to("gsctl ps --gr", "<gsctl ps --gr>");
    /* Sessions and reservations of the server that the line names: a word that is whole is ended by
     * a blank. */
    snprintf(words, sizeof(words), "gsctl explain %s", id);
    snprintf(shown, sizeof(shown), "<gsctl explain %s >", id);
    zsh_completes_to(words, shown);
    zsh_completes_to("gsctl release ren", "<gsctl release render >");
    zsh_completes_to("gsctl -n no-such-server release ren",
                     "<gsctl -n no-such-server release ren>");
    terminal_type(&terminal, "exit\n");
    CHECK_EQUAL(terminal_end(&terminal), 0);
    snprintf(path, sizeof(path), "%s/_gsctl", folder);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Top and watch --------------------------------------------------------------------------- */

#define LEFT_SCREEN "\033[?1049l" /* xterm shows again what was there before */

/* A server for `gsctl top`; skips the test where gsctl has no such command. */
static struct server *top_server_start(void)
{
    struct server *server = server_start(NULL);

    if (gsctl("top", NULL) == 1 && strstr(output, "without ncurses")) {
        CHECK(!strcmp(output,
                      "gsctl: this gsctl was built without ncurses: install libncurses-dev and "
                      "build it anew, or use 'gsctl ps --watch'\n"));
        server_stop(server);
        test_skip("gsctl was built without ncurses");
    }
    CHECK_EQUAL(gsctl("top", NULL), 2); /* no terminal */
    return server;
}

static void top_start(void)
{
    static const char *const top[] = {"bin/gsctl", "top", "--watch", "1", NULL};

    terminal_start(&terminal, 80, 24, top);
}

/* Whether it has written a number such as "1.2k" since what was expected last. */
static bool shows_thousands(void)
{
    for (const char *c = terminal.text + terminal.from + 1; *c; c++) {
        if (*c == 'k' && c[-1] >= '0' && c[-1] <= '9')
            return true;
    }
    return false;
}

/* Each row of the table is a line, of which the terminal breaks none. */
static void ps_fits_a_narrow_terminal(void)
{
    static const char *const arguments[] = {"bin/gsctl", "ps", NULL};
    struct server *server = server_start(NULL);
    gs_session session = attach("a-name-of-twenty-nine-letters", NULL, NULL);

    for (unsigned columns = 60; columns <= 200; columns += 20) {
        terminal_start(&terminal, columns, 24, arguments);
        CHECK_EQUAL(terminal_end(&terminal), 0);
        for (const char *line = terminal.text; *line;) {
            size_t length = strcspn(line, "\r\n"), shown = 0;

            for (size_t i = 0; i < length; i++) {
                if (line[i] == '\033')
                    i += strcspn(line + i, "m");
                else
                    shown++;
            }
            CHECK(shown <= columns);
            line += length + strspn(line + length, "\r\n");
        }
        CHECK_TEXT(terminal.text, "SESSION");
        CHECK_TEXT(terminal.text, "NAME");
        CHECK(columns < 160 || strstr(terminal.text, "a-name-of-twenty-nine-letters"));
    }
    /* A script gets all, however narrow the terminal that it was started from. */
    setenv("COLUMNS", "60", 1);
    GSCTL_OK("ps");
    CHECK_TEXT(output, "COPIED");
    unsetenv("COLUMNS");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void top_shows_the_tenants_and_quits(void)
{
    struct server *server = top_server_start();
    gs_session session = attach("viewed-at-length", NULL, NULL);
    gs_module module = kernels_load(session);
    gs_kernel nothing = kernels_get(module, "nothing");
    char selected[64];

    snprintf(selected, sizeof(selected), " | 1: pid %d, viewed-at", (int)getpid());
    CHECK_WITHIN(2000, gsctl("ps", NULL) == 0 && strstr(output, "viewed") != NULL);
    top_start();
    terminal_expect(&terminal, server->instance);
    terminal_expect(&terminal, selected); /* the table cuts the name, and has no pids */
    terminal_expect(&terminal, "GPU%");
    terminal_expect(&terminal, "viewed");
    /* What it launches from now on shows as launches a second. */
    for (uint64_t deadline = test_deadline(30000); !shows_thousands();) {
        CHECK(clock_ns() < deadline && terminal_read(&terminal));
        for (int i = 0; i < 2000; i++)
            CHECK_OK(kernels_launch(NULL, nothing, 1, 1, NULL));
        CHECK_OK(gs_sync(session));
    }
    /* A user who has no tenant. */
    terminal_type(&terminal, "u65534\n");
    terminal_expect(&terminal, "of ");
    terminal_type(&terminal, "q");
    CHECK_EQUAL(terminal_end(&terminal), 0);
    terminal_expect(&terminal, LEFT_SCREEN);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void top_shows_more_where_there_is_room(void)
{
    static const char *const top[] = {"bin/gsctl", "top", NULL};
    static const struct {
        unsigned columns;
        const char *first, *last; /* of the titles that it has more than a narrower one */
    } sizes[] = {{80, "P50", "FAULTS"},
                 {100, "MEMORY", "MEM%"},
                 {120, "PID", "LIMIT"},
                 {200, "WAIT99", "STATE"}};
    struct server *server = top_server_start();
    gs_session session = attach("viewed", NULL, NULL);

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        terminal_start(&terminal, sizes[i].columns, 24, top);
        terminal_expect(&terminal, sizes[i].first);
        terminal_expect(&terminal, sizes[i].last);
        terminal_expect(&terminal, "NAME");
        terminal_expect(&terminal, "viewed");
        terminal_type(&terminal, "pdxlq");
        CHECK_EQUAL(terminal_end(&terminal), 0);
        for (unsigned wider = i + 1; wider < ARRAY_SIZE(sizes); wider++)
            CHECK(strstr(terminal.text, sizes[wider].first) == NULL);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void top_tells_of_lost_workers_in_80_columns(void)
{
    struct server *server = top_server_start();
    const pid_t worker = server_worker_pid(server);

    kill(worker, SIGKILL);
    CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
    top_start();
    terminal_expect(&terminal, "lost workers: 1");
    terminal_type(&terminal, "q");
    CHECK_EQUAL(terminal_end(&terminal), 0);
    server_stop(server);
}

static void top_ends_a_session_after_asking(void)
{
    struct server *server = top_server_start();
    char id[24], question[64];
    gs_session session = attach("victim", NULL, id);
    gs_devptr memory;

    top_start();
    terminal_expect(&terminal, "victim");
    snprintf(question, sizeof(question), "end session %s of ", id);
    terminal_type(&terminal, "kn\n");
    terminal_expect(&terminal, question);
    CHECK_OK(gs_malloc(session, 4096, &memory));
    terminal_type(&terminal, "k");
    terminal_expect(&terminal, "[y/N]");
    terminal_type(&terminal, "y\n");
    terminal_expect(&terminal, "being");
    CHECK_WITHIN(10000, gs_malloc(session, 4096, &memory) != GS_OK);
    terminal_type(&terminal, "q");
    CHECK_EQUAL(terminal_end(&terminal), 0);
    gs_detach(session);
    server_stop(server);
}

static void top_puts_the_terminal_back_when_it_is_ended(void)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct server *server = top_server_start();
    int status;

    for (unsigned i = 0; i < ARRAY_SIZE(signals); i++) {
        top_start();
        terminal_expect(&terminal, "SESSION");
        if (signals[i] == SIGINT)
            terminal_type(&terminal, "\003"); /* Ctrl-C */
        else
            kill(terminal.pid, signals[i]);
        status = terminal_end(&terminal);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        terminal_expect(&terminal, LEFT_SCREEN);
    }
    /* So does the end of its server. */
    top_start();
    terminal_expect(&terminal, "SESSION");
    server_stop(server);
    CHECK(WEXITSTATUS(terminal_end(&terminal)) != 0);
    terminal_expect(&terminal, LEFT_SCREEN);
    terminal_expect(&terminal, "gsctl: ");
}

/* The last look stays on the terminal when the server quits, with the reason below. */
static void watched_to_the_end(struct server *server)
{
    static const char *const watch[] = {"bin/gsctl", "ps", "--watch=1", NULL};

    terminal_start(&terminal, 80, 24, watch);
    terminal_expect(&terminal, "SESSION");
    server_stop(server);
    CHECK_EQUAL(WEXITSTATUS(terminal_end(&terminal)), 3);
    terminal_expect(&terminal, "gsctl: ");
    terminal_expect(&terminal, "it was told to quit; gshared -d starts it again");
    CHECK(strstr(terminal.text + terminal.from, "\033[H") == NULL);
}

static void watch_looks_again(void)
{
    static const char *const watch[] = {"bin/gsctl", "ps", "--watch=1", NULL};
    static const char *const json[] = {"bin/gsctl", "get", "--watch", "1", "--json", NULL};
    struct server *server = server_start(NULL);

    terminal_start(&terminal, 80, 24, watch);
    for (unsigned i = 0; i < 3; i++) {
        terminal_expect(&terminal, "\033[H\033[2J");
        terminal_expect(&terminal, "SESSION");
    }
    terminal_type(&terminal, "\003");
    CHECK_EQUAL(WTERMSIG(terminal_end(&terminal)), SIGINT);
    watched_to_the_end(server);
    server = server_start(NULL);
    /* Each document is one of its own. */
    terminal_start(&terminal, 80, 24, json);
    terminal_expect(&terminal, "{\"instance\"");
    terminal_expect(&terminal, "J{\"instance\"");
    terminal_type(&terminal, "\003");
    terminal_end(&terminal);
    CHECK_EQUAL(gsctl("ps", "--watch=0", NULL), 2);
    CHECK_EQUAL(gsctl("quit", "--watch", NULL), 2);
    server_stop(server);
}

/* ---- A server or a worker that does not answer ----------------------------------------------- */

/* Runs gsctl, whose status and words these must be. It gives up before 2 s have passed; the rest of
 * the time here is for a machine with other work. */
static void answered_soon(const char *command, const char *operand, const char *option,
                          const char *value, int wanted, const char *part)
{
    const uint64_t deadline = test_deadline(2800);

    CHECK_EQUAL(gsctl(command, operand, option, value, NULL), wanted);
    CHECK_TEXT(output, part);
    CHECK(clock_ns() < deadline);
}

static void a_server_that_is_stopped_is_not_waited_for(void)
{
    static const char *const commands[][3] = {
        {"status"},    {"ps"},
        {"metrics"},   {"set", "1", "--weight=3"},
        {"kill", "1"}, {"trace", "--output=/dev/null", "--seconds=1"},
        {"mps", "ps"}, {"restart-worker"},
    };
    struct server *server = server_start(NULL);
    gs_session session = attach("stands", NULL, NULL);
    pid_t supervisor = server_supervisor(server);

    CHECK_EQUAL(kill(supervisor, SIGSTOP), 0);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        answered_soon(commands[i][0], commands[i][1], commands[i][2], NULL, 1,
                      "did not answer in time; is it stopped");
    answered_soon("servers", NULL, NULL, NULL, 0, "not answering");
    CHECK_EQUAL(kill(supervisor, SIGCONT), 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_worker_that_is_stopped_is_not_waited_for(void)
{
    struct server *server = server_start(NULL);
    char id[24];
    gs_session session = attach("stands", NULL, id);
    pid_t worker = server_worker_pid(server);

    CHECK_EQUAL(kill(worker, SIGSTOP), 0);
    answered_soon("status", NULL, NULL, NULL, 0, "tenants   1");
    answered_soon("ps", NULL, NULL, NULL, 0, "stands");
    answered_soon("info", NULL, NULL, NULL, 0, "stands");
    answered_soon("explain", id, NULL, NULL, 0, "stands");
    answered_soon("set", id, "--weight", "3", 0, "done, but");
    answered_soon("provision", "exact", NULL, NULL, 0, "");
    answered_soon("trace", "--output=/dev/null", "--seconds=1", NULL, 1,
                  "its worker does not answer: the trace has nothing of what it does");
    CHECK_EQUAL(kill(worker, SIGCONT), 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* The worker, which has been stopped; another one takes its place. */
static void worker_stop(struct server *server, pid_t *worker)
{
    CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != *worker &&
                            gsctl("status", NULL) == 0 && strstr(output, "  ready, worker pid"));
    *worker = server_worker_pid(server);
    CHECK_EQUAL(kill(*worker, SIGSTOP), 0);
}

/* The same once there is a standby, so that the next worker does not have to be started first. */
static void worker_with_standby_stop(struct server *server, pid_t *worker)
{
    CHECK_WITHIN(20000, server_standby_pid(server) != 0);
    worker_stop(server, worker);
}

/* What the worker would have to do is done by its end. The neighbour goes on with the next one. */
static void a_worker_that_is_stopped_is_ended_where_it_must_act(void)
{
    struct server *server = server_start(NULL);
    char id[24], pid[24], server_pid[24];
    gs_session neighbour = attach("neighbour", NULL, NULL), victim = attach("victim", NULL, id);
    gs_devptr memory;
    pid_t worker = 0;
    uint64_t deadline;

    worker_with_standby_stop(server, &worker);
    answered_soon("kill", id, "--grace", "100", 0, "1 session has ended\n");
    CHECK_OK(gs_malloc(neighbour, 4096, &memory));
    CHECK(gs_malloc(victim, 4096, &memory) != GS_OK);
    worker_with_standby_stop(server, &worker);
    answered_soon("restart-worker", NULL, NULL, NULL, 1,
                  "does not answer: --force ends it at once");
    answered_soon("restart-worker", "--force", NULL, NULL, 0, "has taken the place of worker");
    CHECK_OK(gs_malloc(neighbour, 4096, &memory));
    /* MPS's command has no grace of its own: gsctl's default of 5 s. */
    worker_with_standby_stop(server, &worker);
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    GSCTL_OK("mps", "get_server_list");
    snprintf(server_pid, sizeof(server_pid), "%d", atoi(output));
    deadline = test_deadline(7500);
    GSCTL_OK("mps", "terminate_client", server_pid, pid);
    CHECK_TEXT(output, "does not answer, and is ended when 5000 ms (--grace) are over");
    CHECK_TEXT(output, "s more at most; Ctrl-C ends only the wait\n");
    CHECK(clock_ns() < deadline);
    worker_with_standby_stop(server, &worker);
    answered_soon("quit", "-y", NULL, NULL, 0, "has ended");
    server_ended(server);
    gs_detach(victim);
    gs_detach(neighbour);
}

/* A worker without sessions has no heartbeat, and nothing to lose. */
static void a_stopped_worker_without_sessions_is_replaced(void)
{
    struct server *server = server_start(NULL);
    pid_t worker = 0;

    worker_stop(server, &worker);
    /* Nobody stands by, so the next worker's start counts, which on a GPU takes seconds. */
    GSCTL_OK("restart-worker");
    CHECK_TEXT(output, "has taken the place of worker");
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_server_that_is_stopped_is_not_waited_for),
    TEST(a_worker_that_is_stopped_is_not_waited_for),
    TEST(a_worker_that_is_stopped_is_ended_where_it_must_act),
    TEST(a_stopped_worker_without_sessions_is_replaced),
    TEST(quit_asks_on_a_terminal_before_it_ends_tenants),
    TEST(quit_does_not_ask_where_nobody_is_to_be_asked),
    TEST(get_breaks_a_terminals_lines_between_settings),
    TEST(status_tells_that_the_server_is_to_end),
    TEST(errors_say_what_to_do),
    TEST(every_command_ends_with_the_status_that_its_help_names),
    TEST(a_setting_that_changes_nothing_says_so),
    TEST(info_draws_who_may_run_where),
    TEST(explain_says_who_says_what),
    TEST(explain_names_the_default_where_limits_are_above_the_device),
    TEST(explain_names_the_environment),
    TEST(explain_names_whom_a_session_waits_for),
    TEST(dump_has_a_line_for_each_thing_and_tabs_between_fields),
    TEST(changes_have_json_too),
    TEST(bash_completes_commands_options_and_values),
    TEST(zsh_completes_commands_options_and_values),
    TEST(ps_fits_a_narrow_terminal),
    TEST(top_shows_the_tenants_and_quits),
    TEST(top_shows_more_where_there_is_room),
    TEST(top_tells_of_lost_workers_in_80_columns),
    TEST(top_ends_a_session_after_asking),
    TEST(top_puts_the_terminal_back_when_it_is_ended),
    TEST(watch_looks_again),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
