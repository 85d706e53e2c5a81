/* test_json.c - `gsctl --json`: each command that prints something prints it as JSON too, a
 * document a line, with the names of the tables. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gsctl_run.h"
#include "harness/harness.h"

/* ---- Reading JSON ---------------------------------------------------------------------------- */

static const char *blanks_skip(const char *at)
{
    return at + strspn(at, " \t\n");
}

static const char *string_skip(const char *at)
{
    CHECK(*at++ == '"');
    for (; *at != '"'; at++) {
        CHECK((unsigned char)*at >= ' ');
        at += *at == '\\';
    }
    return at + 1;
}

static const char *value_skip(const char *at);

/* The members of an object, or the elements of an array. */
static const char *items_skip(const char *at, char end)
{
    at = blanks_skip(at + 1);
    while (*at != end) {
        if (end == '}') {
            at = blanks_skip(string_skip(at));
            CHECK(*at == ':');
            at = blanks_skip(at + 1);
        }
        at = blanks_skip(value_skip(at));
        CHECK(*at == ',' || *at == end);
        if (*at == ',')
            at = blanks_skip(at + 1);
    }
    return at + 1;
}

static const char *value_skip(const char *at)
{
    static const char *const words[] = {"true", "false", "null"};
    char *end;

    if (*at == '{' || *at == '[')
        return items_skip(at, *at == '{' ? '}' : ']');
    if (*at == '"')
        return string_skip(at);
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (!strncmp(at, words[i], strlen(words[i])))
            return at + strlen(words[i]);
    }
    strtod(at, &end);
    if (end == at || !(isdigit((unsigned char)*at) || *at == '-'))
        test_fail(__FILE__, __LINE__, "no JSON from here on: %.80s", at);
    return end;
}

/* Checks that the output is lines of one object each, and counts them. Between them may be what a
 * command that waits says on stderr. */
static unsigned documents(void)
{
    static const char remark[] = "gsctl: ";
    unsigned count = 0;

    for (const char *at = output; *at; at++) {
        if (strncmp(at, remark, strlen(remark)) != 0) {
            CHECK(*at == '{');
            at = value_skip(at);
            count++;
        } else {
            at += strcspn(at, "\n");
        }
        CHECK(*at == '\n');
    }
    return count;
}

/* ---- Helpers --------------------------------------------------------------------------------- */

static gs_session attach_shown(const char *name)
{
    const gs_session session = attach_named(name);
    char pid[24];

    /* The server learns this process's pid a moment after the answer. */
    snprintf(pid, sizeof(pid), " %d ", (int)getpid());
    CHECK_WITHIN(5000, gsctl("ps", NULL) == 0 && strstr(output, pid));
    return session;
}

static const char *text_of(const char *format, int number)
{
    static char text[4][160];
    static unsigned next;

    next = (next + 1) % ARRAY_SIZE(text);
    snprintf(text[next], sizeof(text[next]), format, number);
    return text[next];
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void every_command_that_prints_something_has_json(void)
{
    static const char *const words[][3] = {{"status"},
                                           {"servers"},
                                           {"ps"},
                                           {"top"},
                                           {"info"},
                                           {"dump"},
                                           {"metrics"},
                                           {"log"},
                                           {"get"},
                                           {"explain", "1"},
                                           {"set", "1", "--weight=2"},
                                           {"provision", "exact"},
                                           {"drain", "--no"},
                                           {"restart-worker"},
                                           {"kill", "1"},
                                           {"quit"}};
    struct server *server = server_start(NULL);
    gs_session session = attach_shown("a \"name\"");

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        GSCTL_OK("--json", words[i][0], words[i][1], words[i][2]);
        CHECK(documents() == 1 || !strcmp(words[i][0], "log"));
    }
    CHECK_EQUAL(gsctl("completion", "bash", "--json", NULL), 2);
    CHECK_TEXT(output, "completion has no --json: what it prints is for a shell");
    CHECK_WITHIN(10000, gsctl("status", NULL) == 3);
    gs_detach(session);
    server->pid = 0;
}

static void top_is_a_sample_where_there_is_no_terminal(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_shown("sampled");

    const int status = gsctl("top", NULL);
    if (!strstr(output, "without ncurses")) {
        CHECK_EQUAL(status, 2);
        CHECK_TEXT(output, "elsewhere: gsctl top --json");
    }
    GSCTL_OK("top", "--json");
    CHECK_EQUAL(documents(), 1);
    CHECK_TEXT(output, "\"devices\":[{\"index\":0,");
    CHECK_TEXT(output, text_of("\"pid\":%d,\"user\":\"", (int)getpid()));
    CHECK_TEXT(output, "\"name\":\"sampled\"");
    CHECK_TEXT(output, "\"gpu_percent\":0.000,\"launches_per_s\":0.000");
    GSCTL_OK("top", "--json", "--user", geteuid() == 0 ? "daemon" : "root");
    CHECK_TEXT(output, "\"tenants\":[]");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_watched_top_ends_with_its_server(void)
{
    static const char script[] =
        "\"$GSCTL\" top --json --watch 1 | { read first; read second; "
        "\"$GSCTL\" quit; cat >/dev/null; echo \"$first\"; echo \"$second\"; }";
    struct server *server = server_start(NULL);
    FILE *sh;
    size_t n;

    setenv("GSCTL", test_build_path("bin/gsctl"), 1);
    sh = popen(script, "r");
    CHECK(sh != NULL);
    n = fread(output, 1, sizeof(output) - 1, sh);
    output[n] = 0;
    CHECK_EQUAL(pclose(sh), 0);
    CHECK_TEXT(output, "has ended\n");
    memmove(output, strchr(output, '{'), strlen(strchr(output, '{')) + 1);
    CHECK_EQUAL(documents(), 2);
    server->pid = 0;
}

static void dump_is_status_get_and_ps_in_one(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_shown("dumped");

    GSCTL_OK("set", "--default", "--mem", "64M");
    GSCTL_OK("dump", "--json");
    CHECK_EQUAL(documents(), 1);
    CHECK_TEXT(output, text_of("\"pid\":%d,\"uptime_ns\":", (int)server->pid));
    CHECK_TEXT(output, "\"devices\":[{\"index\":0,");
    CHECK_TEXT(output,
               "\"provision\":\"exact\",\"rows\":[{\"kind\":\"default\",\"set\":{\"mem\":67108864");
    CHECK_TEXT(output, "\"tenants\":[{\"session\":1,");
    CHECK_TEXT(output, "\"name\":\"dumped\"");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void metrics_have_their_names_and_labels(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_shown("a \"quoted\" \\ name");

    GSCTL_OK("metrics", "--json");
    CHECK_EQUAL(documents(), 1);
    CHECK_TEXT(output,
               "{\"name\":\"gshare_up\",\"type\":\"gauge\",\"help\":\"1: the server has "
               "answered.\",\"samples\":[{\"name\":\"gshare_up\",\"labels\":{\"server\":\"");
    CHECK_TEXT(output, "\"type\":\"histogram\",\"unit\":\"seconds\"");
    CHECK_TEXT(output, "\"name\":\"a \\\"quoted\\\" \\\\ name\"");
    CHECK_TEXT(output, "{\"name\":\"gshare_launches_total\",");
    CHECK_EQUAL(gsctl("metrics", "--json", "--listen", "0", NULL), 2);
    CHECK_EQUAL(gsctl("metrics", "--json", "--textfile", "/dev/null", NULL), 2);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void lines_of_the_log_are_objects(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_shown("17");

    GSCTL_OK("log", "--json");
    CHECK(documents() >= 2);
    CHECK_TEXT(output, "{\"time\":\"20");
    CHECK_TEXT(output, "\"program\":\"gshared\",\"process\":");
    CHECK_TEXT(output, "\"event\":\"ready\",\"server\":\"");
    CHECK_TEXT(output, "\"event\":\"attached\",\"session\":1,");
    CHECK_TEXT(output, text_of("\"pid\":%d,", (int)getpid()));
    CHECK_TEXT(output, "\"name\":\"17\"");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void lines_of_the_journal_are_the_same_objects(void)
{
    static const char journal[] =
        "#!/bin/sh\n"
        "[ \"$2 $3\" = '--output=short-iso-precise --no-pager' ] || exit 1\n"
        "echo '-- Journal begins at Sun --'\n"
        "echo '2026-11-23T23:06:37.123456+0100 host gshared[12]: gshared[12] event=attached "
        "session=3 name=\"a \\\"b\\\"\" up=1.500'\n"
        "echo '2026-11-23T23:06:38.123456-0700 host gshared[12]: gshared[12] it is \"so\"'\n";
    struct server *server = server_start(
        &(struct server_options){.environment = (const char *const[]){"JOURNAL_STREAM=1:2", NULL}});
    char folder[] = "/tmp/gshare-json-XXXXXX", program[64], path[4096];
    FILE *file;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(program, sizeof(program), "%s/journalctl", folder);
    file = fopen(program, "we");
    CHECK(file && fputs(journal, file) >= 0 && fclose(file) == 0 && chmod(program, 0755) == 0);
    snprintf(path, sizeof(path), "%s:%.3000s", folder, getenv("PATH"));
    CHECK(setenv("PATH", path, 1) == 0);
    GSCTL_OK("log", "--json");
    CHECK(!strcmp(output,
                  "{\"time\":\"2026-11-23T23:06:37.123456+01:00\",\"program\":\"gshared\","
                  "\"process\":12,\"event\":\"attached\",\"session\":3,\"name\":\"a \\\"b\\\"\","
                  "\"up\":1.500}\n"
                  "{\"time\":\"2026-11-23T23:06:38.123456-07:00\",\"program\":\"gshared\","
                  "\"process\":12,\"message\":\"it is \\\"so\\\"\"}\n"));
    CHECK(unlink(program) == 0 && rmdir(folder) == 0);
    server_stop(server);
}

static void the_queries_of_mps_have_json(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_shown("client"), second;
    char pid[24];

    snprintf(pid, sizeof(pid), "%d", (int)server->pid);
    GSCTL_OK("mps", "--json", "get_server_list");
    CHECK_TEXT(output, text_of("{\"servers\":[{\"pid\":%d}]}\n", (int)server->pid));
    GSCTL_OK("mps", "--json", "get_server_status", pid);
    CHECK_TEXT(output, text_of("{\"pid\":%d,\"status\":\"ACTIVE\"}\n", (int)server->pid));
    GSCTL_OK("mps", "--json", "get_client_list", pid);
    CHECK_TEXT(output, text_of("{\"clients\":[{\"pid\":%d,\"user\":\"", (int)getpid()));
    GSCTL_OK("mps", "--json", "get_device_client_list");
    CHECK_TEXT(output, "{\"devices\":[{\"device\":0,\"pci\":");
    CHECK_TEXT(output, text_of("\"clients\":[{\"pid\":%d,\"id\":1,\"user\":\"", (int)getpid()));
    GSCTL_OK("mps", "ps", "--json");
    CHECK_TEXT(output, "\"command\":\"client\"");
    GSCTL_OK("mps", "--json", "device_query");
    CHECK_TEXT(output, "\"devices\":[{\"device_ordinal\":0,");
    GSCTL_OK("mps", "--json", "get_default_device_pinned_mem_limit", "0");
    CHECK_TEXT(output, "{\"device_pinned_mem_limit\":null}\n");
    GSCTL_OK("mps", "--json", "set_default_device_pinned_mem_limit", "0", "64M");
    CHECK_TEXT(output, "{\"remark\":\"\"}\n");
    GSCTL_OK("mps", "--json", "get_default_device_pinned_mem_limit", "0");
    CHECK_TEXT(output, "{\"device_pinned_mem_limit\":67108864}\n");
    GSCTL_OK("mps", "get_default_active_thread_percentage", "--json");
    CHECK_TEXT(output, "{\"active_thread_percentage\":100.0}\n");
    GSCTL_OK("mps", "--json", "get_default_client_priority");
    CHECK_TEXT(output, "{\"client_priority\":0}\n");
    GSCTL_OK("mps", "--json", "lspart");
    CHECK_TEXT(output, "{\"partitions\":[{\"gpu\":0,\"partition\":\"\",");
    GSCTL_OK("mps", "--json", "help");
    CHECK_EQUAL(documents(), 1);
    /* A process with two sessions. */
    second = attach_shown("client");
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    GSCTL_OK("mps", "--json", "set_active_thread_percentage", pid, "50");
    CHECK_EQUAL(documents(), 1);
    CHECK_TEXT(output, "{\"remark\":\"\"}\n");
    GSCTL_OK("mps", "--json", "set_active_thread_percentage", pid, "50");
    CHECK_EQUAL(documents(), 1);
    CHECK_TEXT(output, "{\"remark\":\"nothing has changed: this is set already\"}\n");
    CHECK_OK(gs_detach(second));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void what_was_reserved_is_a_row(void)
{
    struct server *server = server_start(NULL);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session = attach_shown("reserves");

    CHECK_OK(gs_session_info(session, &desc));
    CHECK_OK(gs_detach(session));
    if (desc.sm_granularity == 0) {
        server_stop(server);
        test_skip("the device has no partitions of SMs");
    }
    GSCTL_OK("reserve", "render", "--sms", "1", "--json");
    CHECK_EQUAL(documents(), 1);
    CHECK_TEXT(output, "{\"kind\":\"reservation\",\"name\":\"render\",\"device\":0,\"sm_count\":");
    CHECK_TEXT(output, "\"state\":\"reserved\",\"remark\":\"\"}\n");
    GSCTL_OK("release", "render", "--json");
    CHECK_TEXT(output, "{\"remark\":\"\"}\n");
    server_stop(server);
}

static void a_trace_is_json_already(void)
{
    struct server *server = server_start(NULL);

    GSCTL_OK("trace", "--json", "--seconds", "1");
    CHECK_TEXT(output, "\"traceEvents\":[");
    CHECK_TEXT(output, "gsctl: -: 1.0 s");
    server_stop(server);
}

static const struct test tests[] = {
    TEST(every_command_that_prints_something_has_json),
    TEST(top_is_a_sample_where_there_is_no_terminal),
    TEST(a_watched_top_ends_with_its_server),
    TEST(dump_is_status_get_and_ps_in_one),
    TEST(metrics_have_their_names_and_labels),
    TEST(lines_of_the_log_are_objects),
    TEST(lines_of_the_journal_are_the_same_objects),
    TEST(the_queries_of_mps_have_json),
    TEST(what_was_reserved_is_a_row),
    TEST(a_trace_is_json_already),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
