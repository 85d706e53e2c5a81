/* test_metrics.c - `gsctl metrics`: OpenMetrics, read by a strict reader of the test's own. */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gsctl_run.h"
#include "harness/harness.h"
#include "terminal.h"

static struct terminal terminal;

/* ---- A strict reader ------------------------------------------------------------------------- */

#define SERIES_MAX   1024
#define FAMILIES_MAX 64

struct family {
    char name[64], type[16], unit[16];
    bool helped;
    unsigned samples;
};
struct series {
    char key[600]; /* name and labels */
    bool counter;
    double value;
};
struct exposition {
    struct family family[FAMILIES_MAX];
    unsigned family_count;
    struct series series[SERIES_MAX];
    unsigned series_count;
};

static bool name_valid(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!isalpha((unsigned char)name[i]) && name[i] != '_' &&
            !(i && isdigit((unsigned char)name[i])))
            return false;
    }
    return length != 0;
}

/* Checks {name="value",...}; returns the text behind it. */
static const char *labels_check(const char *at)
{
    CHECK(*at == '{');
    do {
        size_t length = strcspn(++at, "=");

        CHECK(name_valid(at, length));
        at += length;
        CHECK(at[0] == '=' && at[1] == '"');
        for (at += 2; *at != '"'; at++) {
            CHECK(*at != 0);
            if (*at == '\\')
                CHECK(strchr("\\\"n", *++at));
        }
        at++;
    } while (*at == ',');
    CHECK(*at == '}');
    return at + 1;
}

/* "# TYPE name type", "# UNIT name unit", "# HELP name text", in this order. A new family begins
 * with its type, and none comes twice. */
static void metadata_read(struct exposition *e, const char *line)
{
    struct family *now = e->family_count ? &e->family[e->family_count - 1] : NULL;
    char what[8], name[64], text[256];

    CHECK_EQUAL(sscanf(line, "# %7s %63s %255[^\n]", what, name, text), 3);
    CHECK(name_valid(name, strlen(name)));
    if (!strcmp(what, "TYPE")) {
        for (unsigned i = 0; i < e->family_count; i++)
            CHECK(strcmp(e->family[i].name, name) != 0);
        CHECK(e->family_count < FAMILIES_MAX);
        now = &e->family[e->family_count++];
        *now = (struct family){.helped = false};
        snprintf(now->name, sizeof(now->name), "%s", name);
        snprintf(now->type, sizeof(now->type), "%s", text);
        CHECK(!strcmp(text, "gauge") || !strcmp(text, "counter") || !strcmp(text, "info") ||
              !strcmp(text, "histogram"));
        return;
    }
    CHECK(now && !strcmp(now->name, name) && now->samples == 0 && !now->helped);
    if (!strcmp(what, "UNIT")) {
        size_t length = strlen(text);

        /* The unit ends the name. */
        CHECK(strlen(name) > length + 1 && !strcmp(name + strlen(name) - length, text) &&
              name[strlen(name) - length - 1] == '_');
        snprintf(now->unit, sizeof(now->unit), "%.15s", text);
    } else {
        CHECK(!strcmp(what, "HELP"));
        now->helped = true;
    }
}

/* Which sample of a histogram the line is. */
static const char *histogram_suffix(const char *line)
{
    static const char *const suffixes[] = {"_bucket", "_count", "_sum"};

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        if (!strncmp(line, suffixes[i], strlen(suffixes[i])))
            return suffixes[i];
    }
    return "";
}

/* Buckets come one after the other, each with all that is in those before; "+Inf" has what the
 * count says. */
static void bucket_check(const struct exposition *e, const char *suffix)
{
    const struct series *s = &e->series[e->series_count], *before = s - 1;
    const char *le = strstr(s->key, "le=\""), *le_before;

    if (!strcmp(suffix, "_count")) {
        CHECK(e->series_count && strstr(before->key, "le=\"+Inf\"") != NULL);
        CHECK(s->value == before->value);
    }
    CHECK((le != NULL) == !strcmp(suffix, "_bucket"));
    le_before = e->series_count && le ? strstr(before->key, "_bucket{") : NULL;
    le_before = le_before ? strstr(le_before, "le=\"") : NULL;
    if (le_before && !strstr(before->key, "+Inf"))
        CHECK(strtod(le + 4, NULL) > strtod(le_before + 4, NULL) && s->value >= before->value);
}

static void sample_read(struct exposition *e, const char *line)
{
    struct family *now = &e->family[e->family_count - 1];
    size_t length = strcspn(line, "{"), base = strlen(now->name);
    const char *suffix = !strcmp(now->type, "counter")     ? "_total"
                         : !strcmp(now->type, "info")      ? "_info"
                         : !strcmp(now->type, "histogram") ? histogram_suffix(line + base)
                                                           : "";
    const char *after = labels_check(line + length);
    struct series *s = &e->series[e->series_count];
    char *end;

    CHECK(e->family_count && now->helped);
    CHECK(length == base + strlen(suffix) && !strncmp(line, now->name, base) &&
          !strncmp(line + base, suffix, strlen(suffix)));
    CHECK(e->series_count < SERIES_MAX && (size_t)(after - line) < sizeof(s->key));
    snprintf(s->key, sizeof(s->key), "%.*s", (int)(after - line), line);
    for (unsigned i = 0; i < e->series_count; i++)
        CHECK(strcmp(e->series[i].key, s->key) != 0);
    CHECK(*after == ' ' && isdigit((unsigned char)after[1]));
    s->value = strtod(after + 1, &end);
    CHECK(*end == 0);
    s->counter = !strcmp(now->type, "counter") || !strcmp(now->type, "histogram");
    if (!strcmp(now->type, "histogram"))
        bucket_check(e, suffix);
    CHECK(strcmp(now->type, "info") != 0 || s->value == 1);
    now->samples++;
    e->series_count++;
}

/* Reads a whole exposition; "# EOF" is its last line, and its last line only. */
static void exposition_read(struct exposition *e, const char *text)
{
    bool ended = false;

    *e = (struct exposition){.family_count = 0};
    while (*text) {
        size_t length = strcspn(text, "\n");
        char line[1024];

        CHECK(!ended && text[length] == '\n' && length > 0 && length < sizeof(line));
        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        if (!strcmp(line, "# EOF"))
            ended = true;
        else if (line[0] == '#')
            metadata_read(e, line);
        else
            sample_read(e, line);
        text += length + 1;
    }
    CHECK(ended);
}

/* The value of the series of this name that has this label. */
static double value_of(const struct exposition *e, const char *name, const char *label)
{
    size_t length = strlen(name);

    for (unsigned i = 0; i < e->series_count; i++) {
        const struct series *s = &e->series[i];

        if (!strncmp(s->key, name, length) && s->key[length] == '{' && strstr(s->key, label))
            return s->value;
    }
    test_fail(__FILE__, __LINE__, "no series %s with %s", name, label);
}

/* The member of the first session in what gsctl ps --json has printed. */
static double ps_number(const char *member)
{
    char name[64];
    const char *at;

    snprintf(name, sizeof(name), "\"%s\":", member);
    at = strstr(output, name);
    if (!at)
        test_fail(__FILE__, __LINE__, "no %s in %s", name, output);
    return strtod(at + strlen(name), NULL);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void work(gs_session session, gs_kernel kernel, int launches)
{
    for (int i = 0; i < launches; i++)
        CHECK_OK(kernels_launch(NULL, kernel, 1, 1, NULL));
    CHECK_OK(gs_sync(session));
}

/* Reads the metrics, and has ps print; false: the session's time on the device, which the worker
 * publishes last, has changed meanwhile. */
static bool looked_at_once(struct exposition *e)
{
    double before;

    GSCTL_OK("ps", "--json");
    before = ps_number("gpu_ns");
    GSCTL_OK("metrics");
    exposition_read(e, output);
    GSCTL_OK("ps", "--json");
    return ps_number("gpu_ns") <= before;
}

static void figures_are_those_of_ps_and_counters_only_grow(void)
{
    static const struct {
        const char *metric, *member;
        double scale;
    } same[] = {{"gshare_launches_total", "launches", 1},
                {"gshare_kernel_seconds_total", "gpu_ns", 1e-9},
                {"gshare_copied_bytes_total", "copied_bytes", 1},
                {"gshare_copies_total", "copies", 1},
                {"gshare_deadlines_missed_total", "deadlines_missed", 1},
                {"gshare_memory_used_bytes", "memory_used", 1},
                {"gshare_sms", "sm_count", 1}};
    static struct exposition first, second;
    struct server *server = server_start(NULL);
    gs_session session = attach_named("odd \"name\" \\ \xff");
    gs_kernel nothing = kernels_get(kernels_load(session), "nothing");
    char label[64];
    gs_devptr memory;

    CHECK_OK(gs_malloc(session, 3 << 20, &memory));
    CHECK_OK(gs_memset(session, memory, 0, 4096));
    /* A thousand idle sessions are not a thousand empty histograms. */
    GSCTL_OK("metrics");
    CHECK_TEXT(output, "# TYPE gshare_launch_latency_seconds histogram\n");
    CHECK(strstr(output, "\ngshare_launch_latency_seconds_") == NULL);
    work(session, nothing, 20);
    GSCTL_OK("metrics");
    exposition_read(&first, output);
    work(session, nothing, 30);
    CHECK_WITHIN(10000, looked_at_once(&second) && ps_number("launches") >= 50);
    for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
        double got = value_of(&second, same[i].metric, "session=\"1\"");
        double wanted = ps_number(same[i].member) * same[i].scale;

        if (got > wanted + 1e-6 || got < wanted - 1e-6)
            test_fail(__FILE__, __LINE__, "%s is %f, not %f", same[i].metric, got, wanted);
    }
    CHECK(value_of(&first, "gshare_launches_total", "session=\"1\"") >= 20);
    for (unsigned i = 0; i < first.series_count; i++) {
        const char *key = first.series[i].key;
        const size_t name = strcspn(key, "{");
        char text[64];

        snprintf(text, sizeof(text), "%.*s", (int)name, key);
        if (first.series[i].counter)
            CHECK(value_of(&second, text, key + name) >= first.series[i].value);
    }
    /* A figure is there with no limit set, too: the device's memory. */
    CHECK(value_of(&second, "gshare_memory_limit_bytes", "session=\"1\"") ==
          value_of(&second, "gshare_device_memory_bytes", "gpu=\"0\""));
    CHECK(value_of(&second, "gshare_up", "server=") == 1);
    CHECK(value_of(&second, "gshare_sessions", "server=") == 1);
    CHECK(value_of(&second, "gshare_device_ready", "gpu=\"0\",UUID=\"GPU-") == 1);
    snprintf(label, sizeof(label), "name=\"odd \\\"name\\\" \\\\ ");
    value_of(&second, "gshare_session_info", label);
    value_of(&second, "gshare_launches_total", "gpu=\"0\",UUID=\"GPU-");
    value_of(&second, "gshare_queue_wait_seconds_count", "gpu=\"0\",UUID=\"GPU-");
    value_of(&second, "gshare_launch_latency_seconds_bucket", "gpu=\"0\",UUID=\"GPU-");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_textfile_is_replaced_as_a_whole(void)
{
    struct server *server = server_start(NULL);
    char folder[] = "/tmp/gshare-test-XXXXXX", path[64], text[65536];
    gs_session session = attach_named("written");
    unsigned files = 0;
    struct dirent *entry;
    size_t size;
    FILE *file;
    DIR *dir;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/gshare.prom", folder);
    for (int i = 0; i < 2; i++)
        GSCTL_OK("metrics", "--textfile", path);
    CHECK_EQUAL(strlen(output), 0);
    file = fopen(path, "r");
    CHECK(file != NULL);
    size = fread(text, 1, sizeof(text) - 1, file);
    text[size] = 0;
    fclose(file);
    /* node_exporter reads Prometheus's own form: types of whole names, and none that it lacks. */
    CHECK_TEXT(text, "# TYPE gshare_launches_total counter\ngshare_launches_total{");
    CHECK_TEXT(text, "# TYPE gshare_session_info gauge\n");
    CHECK_TEXT(text, "name=\"written\"");
    CHECK(strstr(text, "# EOF") == NULL && strstr(text, "# UNIT") == NULL &&
          strstr(text, " info\n") == NULL);
    dir = opendir(folder);
    while ((entry = readdir(dir)))
        files += entry->d_name[0] != '.';
    closedir(dir);
    CHECK_EQUAL(files, 1);
    CHECK_EQUAL(gsctl("metrics", "--textfile", "/nowhere/gshare.prom", NULL), 1);
    unlink(path);
    rmdir(folder);
    CHECK_OK(gs_detach(session));
    server_stop(server);
    CHECK_EQUAL(gsctl("metrics", NULL), 3);
    CHECK_EQUAL(gsctl("metrics", "--listen", "0", "--textfile", "x", NULL), 2);
    CHECK_EQUAL(gsctl("metrics", "--watch", "1", NULL), 2);
}

/* Sends the request to the loopback's port; output has the answer. */
static void ask(unsigned port, const char *request)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t size = 0;
    ssize_t n;

    CHECK(fd >= 0);
    CHECK(connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
    CHECK(write(fd, request, strlen(request)) == (ssize_t)strlen(request));
    while ((n = read(fd, output + size, sizeof(output) - 1 - size)) > 0)
        size += (size_t)n;
    output[size] = 0;
    close(fd);
}

#define CLOSE "Host: localhost\r\nConnection: close\r\n"

static void it_is_served_and_outlives_the_server(void)
{
    static const char *const listen[] = {"bin/gsctl", "metrics", "--listen", "0", NULL};
    static struct exposition e;
    struct server *server = server_start(NULL);
    gs_session session = attach_named("served");
    unsigned port;
    char *body;

    if (gsctl("metrics", "--listen", "127.0.0.1:x", NULL) == 1 &&
        strstr(output, "without libmicrohttpd")) {
        CHECK_OK(gs_detach(session));
        server_stop(server);
        test_skip("gsctl was built without libmicrohttpd");
    }
    CHECK_EQUAL(gsctl("metrics", "--listen", "somewhere", NULL), 2);
    CHECK_EQUAL(gsctl("metrics", "--listen", "65536", NULL), 2);
    terminal_start(&terminal, 80, 24, listen);
    terminal_expect(&terminal, "http://127.0.0.1:");
    port = (unsigned)atoi(terminal.text + terminal.from);
    terminal_expect(&terminal, "/metrics");
    ask(port, "GET /metrics HTTP/1.1\r\n" CLOSE "Accept: application/openmetrics-text\r\n\r\n");
    CHECK_TEXT(output, "HTTP/1.1 200 OK\r\n");
    CHECK_TEXT(output, "application/openmetrics-text; version=1.0.0; charset=utf-8\r\n");
    body = strstr(output, "\r\n\r\n") + 4;
    exposition_read(&e, body);
    value_of(&e, "gshare_session_info", "name=\"served\"");
    ask(port, "GET /metrics HTTP/1.1\r\n" CLOSE "\r\n");
    CHECK_TEXT(output, "text/plain; version=0.0.4");
    CHECK_TEXT(output, "# TYPE gshare_launches_total counter\n");
    ask(port, "GET / HTTP/1.1\r\n" CLOSE "\r\n");
    CHECK_TEXT(output, "HTTP/1.1 404 ");
    ask(port, "POST /metrics HTTP/1.1\r\n" CLOSE "Content-Length: 0\r\n\r\n");
    CHECK_TEXT(output, "HTTP/1.1 405 ");
    CHECK_OK(gs_detach(session));
    server_stop(server);
    ask(port, "GET /metrics HTTP/1.1\r\n" CLOSE "Accept: application/openmetrics-text\r\n\r\n");
    exposition_read(&e, strstr(output, "\r\n\r\n") + 4);
    CHECK(value_of(&e, "gshare_up", "server=") == 0);
    CHECK_EQUAL(e.series_count, 1);
    kill(terminal.pid, SIGTERM);
    CHECK_EQUAL(WEXITSTATUS(terminal_end(&terminal)), 0);
}

static const struct test tests[] = {
    TEST(figures_are_those_of_ps_and_counters_only_grow),
    TEST(a_textfile_is_replaced_as_a_whole),
    TEST(it_is_served_and_outlives_the_server),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
