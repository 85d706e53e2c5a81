/*
 * metrics_text.c - the figures of `gsctl metrics`, from one table, in the two text forms that
 * Prometheus's programs read: see metrics.h.
 *
 * A thousand sessions that have launched make 51,000 lines and 8.5 MB, so lines are assembled by
 * copying.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"
#include "common/util.h"
#include "gsctl/ask/server.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/format.h"
#include "gsctl/base/memory.h"
#include "gsctl/metrics/metrics.h"

enum type { GAUGE, COUNTER, INFO, HISTOGRAM };
enum scope { OF_SERVER, OF_DEVICE, OF_SESSION };

/* The figures of a server and of a device: the server's answers, and values computed from them. A
 * session's figures are members of struct ctl_tenant. */
struct server_figures {
    struct ctl_status_reply r;
    uint32_t up;
};
struct device_figures {
    struct ctl_device d;
    uint32_t ready;
};

/* ---- The table ------------------------------------------------------------------------------- */

/* A family of several figures, which differ in one more label. */
struct several {
    const char *label;
    size_t count;
    /* Returns the label's value for the figure of that index, and sets *figure. NULL: there is
     * none. */
    const char *(*name)(char out[FORMAT_MAX], const void *structure, size_t index,
                        uint64_t *figure);
};
static const struct several refusals, takeovers, blamed;

/* A family: its samples are one member of the scope's struct, which has 4 or 8 bytes or is a
 * histogram, or `several`. */
#define OF(structure, member) offsetof(structure, member), sizeof(((structure *)0)->member), NULL
#define SERVER(member)        OF_SERVER, OF(struct server_figures, member)
#define DEVICE(member)        OF_DEVICE, OF(struct device_figures, member)
#define SESSION(member)       OF_SESSION, OF(struct ctl_tenant, member)

static const struct family {
    const char *name; /* without the suffix of its type */
    enum type type;
    const char *unit; /* "seconds": the member has nanoseconds; NULL: a plain number */
    const char *help;
    enum scope scope;
    size_t offset, size;
    const struct several *several;
} families[] = {
    {"gshare_up", GAUGE, NULL, "1: the server has answered.", SERVER(up)},
    {"gshare_server", INFO, NULL, "The server.", SERVER(up)},
    {"gshare_uptime_seconds", GAUGE, "seconds", "Time since the server started.",
     SERVER(r.uptime_ns)},
    {"gshare_sessions", GAUGE, NULL, "Sessions of the server.", SERVER(r.tenants)},
    {"gshare_sessions_limit", GAUGE, NULL, "Sessions that the server takes at most.",
     SERVER(r.tenants_max)},
    {"gshare_attaches", COUNTER, NULL, "Sessions that have attached since the server started.",
     SERVER(r.sessions_total)},
    {"gshare_refusals", COUNTER, NULL, "Attaches that were refused, by status.", OF_SERVER, 0, 0,
     &refusals},
    {"gshare_device", INFO, NULL, "A device of the server.", DEVICE(ready)},
    {"gshare_device_ready", GAUGE, NULL, "1: the device's worker takes work.", DEVICE(ready)},
    {"gshare_device_sms", GAUGE, NULL, "SMs of the device.", DEVICE(d.sm_count)},
    {"gshare_device_sessions", GAUGE, NULL, "Sessions on the device.", DEVICE(d.tenants)},
    {"gshare_device_sessions_ending", GAUGE, NULL,
     "Sessions that have ended, and hold their memory until their kernels have.", DEVICE(d.ending)},
    {"gshare_device_memory_used_bytes", GAUGE, "bytes", "Device memory that sessions hold.",
     DEVICE(d.memory_used)},
    {"gshare_device_memory_bytes", GAUGE, "bytes", "Memory of the device.", DEVICE(d.memory_total)},
    {"gshare_faults", COUNTER, NULL, "Workers of the device that were lost.", DEVICE(d.faults)},
    {"gshare_takeovers", COUNTER, NULL, "Workers whose place another took, by cause.", OF_DEVICE, 0,
     0, &takeovers},
    {"gshare_takeovers_blamed", COUNTER, NULL,
     "Workers that were lost by a session's fault or had to evict it, by its user.", OF_DEVICE, 0,
     0, &blamed},
    {"gshare_session", INFO, NULL, "A session.", SESSION(session_id)},
    {"gshare_session_age_seconds", GAUGE, "seconds", "Time since the session attached.",
     SESSION(attached_ns)},
    {"gshare_sms", GAUGE, NULL, "SMs that the session may use.", SESSION(sm_count)},
    {"gshare_memory_used_bytes", GAUGE, "bytes", "Device memory that the session holds.",
     SESSION(memory_used)},
    {"gshare_memory_limit_bytes", GAUGE, "bytes",
     "Device memory that the session may hold, by its own limit and its user's; the device's "
     "where nothing limits it.",
     SESSION(memory_limit)},
    {"gshare_driver_memory_bytes", GAUGE, "bytes",
     "Device memory that the driver takes for the session beside that, as far as it is known.",
     SESSION(driver_memory)},
    {"gshare_launches", COUNTER, NULL, "Kernels that the session has launched.", SESSION(launches)},
    {"gshare_queue_depth", GAUGE, NULL,
     "Launches and graphs of the session that the device has been given and has not finished.",
     SESSION(depth)},
    {"gshare_queue_wait_seconds", HISTOGRAM, "seconds",
     "Time of a launch or graph from when the server saw it until the device was given it.",
     SESSION(wait)},
    {"gshare_launch_latency_seconds", HISTOGRAM, "seconds",
     "Time of a launch or graph from when the server saw it until it had ended.", SESSION(latency)},
    {"gshare_kernel_seconds", COUNTER, "seconds", "Time of the session's work on the device.",
     SESSION(gpu_ns)},
    {"gshare_sm_seconds", COUNTER, "seconds",
     "The same time, each moment by the number of SMs that the work took.", SESSION(sm_ns)},
    {"gshare_deadlines_missed", COUNTER, NULL, "Launches that missed their deadline.",
     SESSION(deadlines_missed)},
    {"gshare_strays", COUNTER, NULL,
     "Accesses outside of the session's memory, where its fence reports them.", SESSION(strays)},
    {"gshare_copies", COUNTER, NULL, "Copies of the session.", SESSION(copies)},
    {"gshare_copied_bytes", COUNTER, "bytes", "Bytes that the session has copied.",
     SESSION(copied_bytes)},
};

static const char *const suffixes[] = {
    [GAUGE] = "", [COUNTER] = "_total", [INFO] = "_info", [HISTOGRAM] = ""};
static const char *const types[] = {
    [GAUGE] = "gauge", [COUNTER] = "counter", [INFO] = "info", [HISTOGRAM] = "histogram"};

/* Usual refusals are printed at 0 too, since a rate needs a first value. */
static const char *refusal_name(char out[FORMAT_MAX], const void *structure, size_t index,
                                uint64_t *figure)
{
    static const bool usual[CTL_STATUSES] = {
        [GS_ERR_INVALID_VALUE] = true, [GS_ERR_LIMIT] = true,   [GS_ERR_VERSION] = true,
        [GS_ERR_NO_DEVICE] = true,     [GS_ERR_REFUSED] = true, [GS_ERR_NOT_FOUND] = true,
        [GS_ERR_TIMEOUT] = true};
    const struct server_figures *figures = structure;

    (void)out;
    *figure = figures->r.refusals[index];
    return *figure || usual[index] ? status_name((gs_status)index) : NULL;
}

static const char *takeover_name(char out[FORMAT_MAX], const void *structure, size_t index,
                                 uint64_t *figure)
{
    const struct device_figures *figures = structure;

    (void)out;
    *figure = figures->d.takeovers[index];
    return takeover_cause_name((uint32_t)index);
}

static const char *blamed_name(char out[FORMAT_MAX], const void *structure, size_t index,
                               uint64_t *figure)
{
    const struct device_figures *figures = structure;
    const struct ctl_blamed *at = &figures->d.blamed[index];

    *figure = at->count;
    if (index == CTL_BLAMED - 1) /* also at 0, so that there is a series before there are faults */
        return "others";
    return at->count ? format_user(out, at->uid) : NULL;
}

static const struct several refusals = {"status", CTL_STATUSES, refusal_name};
static const struct several takeovers = {"cause", CTL_TAKEOVERS, takeover_name};
static const struct several blamed = {"user", CTL_BLAMED, blamed_name};

const char *metrics_content_type(enum metrics_form form)
{
    return form == METRICS_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- The text -------------------------------------------------------------------------------- */

struct output {
    char *text;
    size_t size, room;
};

static void put(struct output *out, const char *bytes, size_t size)
{
    if (out->room - out->size < size) {
        out->room = 2 * out->room + size;
        out->text = memory_more(out->text, out->room, 1);
    }
    memcpy(out->text + out->size, bytes, size);
    out->size += size;
}

static void put_text(struct output *out, const char *text)
{
    put(out, text, strlen(text));
}

static void put_number(struct output *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + number % 10);
    } while (number /= 10);
    put(out, digits + at, sizeof(digits) - at);
}

static void put_seconds(struct output *out, uint64_t ns)
{
    char fraction[10] = ".";

    for (uint32_t i = 9, left = (uint32_t)(ns % 1000000000u); i > 0; i--, left /= 10)
        fraction[i] = (char)('0' + left % 10);
    put_number(out, ns / 1000000000u);
    put(out, fraction, sizeof(fraction));
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Puts the beginning of a sample's line: the name, its suffix and the labels, without the closing
 * brace. */
static void line_begin(struct output *out, const struct family *f, const char *suffix,
                       const struct metrics_both *labels)
{
    put_text(out, f->name);
    put_text(out, suffix);
    put(out, labels->labels.text, labels->labels.size);
}

/* Returns a bucket's bound in OpenMetrics's canonical form, which Prometheus accepts too. */
static const char *bound_text(char out[FORMAT_MAX], uint32_t bucket)
{
    const uint64_t ns = histogram_bound(bucket);

    if (ns == UINT64_MAX)
        return "+Inf";
    snprintf(out, FORMAT_MAX, ns % 1000000000u ? "%g" : "%.1f", (double)ns * 1e-9);
    return out;
}

/* Prints a histogram, unless it is empty. The 19 lines at 0 would be three quarters of an idle
 * session's lines, and all series of a histogram begin together with the first launch. */
static void histogram_print(struct output *out, const struct family *f, const void *structure,
                            const struct metrics_both *labels)
{
    static char les[HISTOGRAM_BUCKETS][FORMAT_MAX + 16]; /* shared by all histograms */
    struct ctl_histogram h;
    uint64_t below = 0;
    char bound[FORMAT_MAX];

    memcpy(&h, (const unsigned char *)structure + f->offset, sizeof(h));
    if (histogram_sum(&h) == 0)
        return;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (!*les[i])
            snprintf(les[i], sizeof(les[i]), ",le=\"%s\"} ", bound_text(bound, i));
        below += h.count[i];
        line_begin(out, f, "_bucket", labels);
        put_text(out, les[i]);
        put_number(out, below);
        put(out, "\n", 1);
    }
    line_begin(out, f, "_count", labels);
    put(out, "} ", 2);
    put_number(out, below);
    put(out, "\n", 1);
    line_begin(out, f, "_sum", labels);
    put(out, "} ", 2);
    put_seconds(out, h.sum_ns);
    put(out, "\n", 1);
}

static void put_part(void *to, const char *part, size_t size)
{
    put(to, part, size);
}

static void several_print(struct output *out, const struct family *f, const void *structure,
                          const struct metrics_both *labels)
{
    for (size_t i = 0; i < f->several->count; i++) {
        char name[FORMAT_MAX];
        uint64_t figure;
        const char *value = f->several->name(name, structure, i, &figure);

        if (!value)
            continue;
        line_begin(out, f, suffixes[f->type], labels);
        put(out, ",", 1);
        put_text(out, f->several->label);
        put(out, "=", 1);
        metrics_value_put(value, put_part, out);
        put(out, "} ", 2);
        put_number(out, figure);
        put(out, "\n", 1);
    }
}

static void sample_print(struct output *out, const struct family *f, const void *structure,
                         const struct metrics_both *labels)
{
    const unsigned char *at = (const unsigned char *)structure + f->offset;
    uint64_t value = 0;
    uint32_t word;

    if (f->several) {
        several_print(out, f, structure, labels);
        return;
    }
    if (f->type == HISTOGRAM) {
        histogram_print(out, f, structure, labels);
        return;
    }
    if (f->size == sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        value = word;
    } else {
        memcpy(&value, at, sizeof(value));
    }
    line_begin(out, f, suffixes[f->type], labels);
    if (f->type == INFO) {
        put(out, labels->info.text, labels->info.size);
        value = 1;
    }
    put(out, "} ", 2);
    if (f->unit && !strcmp(f->unit, "seconds"))
        put_seconds(out, value);
    else
        put_number(out, value);
    put(out, "\n", 1);
}

/* Prints the head of a family. Prometheus's own form has the suffix in the family's name, and
 * neither infos nor units. */
static void family_head(struct output *out, const struct family *f, enum metrics_form form)
{
    const bool own = form == METRICS_PROMETHEUS;
    char text[512];
    int size;

    if (own)
        size = snprintf(text, sizeof(text), "# HELP %s%s %s\n# TYPE %s%s %s\n", f->name,
                        suffixes[f->type], f->help, f->name, suffixes[f->type],
                        types[f->type == INFO ? GAUGE : f->type]);
    else
        size = snprintf(text, sizeof(text), "# TYPE %s %s\n%s%s%s%s%s# HELP %s %s\n", f->name,
                        types[f->type], f->unit ? "# UNIT " : "", f->unit ? f->name : "",
                        f->unit ? " " : "", f->unit ? f->unit : "", f->unit ? "\n" : "", f->name,
                        f->help);
    put(out, text, size > 0 && (size_t)size < sizeof(text) ? (size_t)size : 0);
}

/* The structs whose members the families print. */
struct figures {
    struct server_figures server;
    struct device_figures device[ARRAY_SIZE(((struct ctl_status_reply *)0)->device)];
    struct ctl_tenant *session;
};

static void figures_init(struct figures *figures, const struct metrics_sample *s)
{
    figures->server = (struct server_figures){.r = s->status, .up = s->up};
    for (uint32_t d = 0; d < s->status.device_count; d++)
        figures->device[d] = (struct device_figures){
            .d = s->status.device[d], .ready = s->status.device[d].state == CTL_DEVICE_READY};
    figures->session = memory_more(NULL, s->count, sizeof(*figures->session));
    for (size_t i = 0; i < s->count; i++) {
        struct ctl_tenant *t = &figures->session[i];

        *t = s->tenants[i];
        if (t->memory_limit == 0 && (uint32_t)t->device < s->status.device_count)
            t->memory_limit = s->status.device[t->device].memory_total;
    }
}

char *metrics_text(const struct metrics_sample *sample, enum metrics_form form, size_t *size)
{
    struct output out = {.text = NULL};
    struct metrics_labels labels;
    static struct figures figures;

    metrics_labels_init(&labels, sample);
    figures_init(&figures, sample);
    for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
        const struct family *f = &families[i];

        if (!sample->up && i > 0)
            break;
        family_head(&out, f, form);
        if (f->scope == OF_SERVER)
            sample_print(&out, f, &figures.server, &labels.server);
        for (uint32_t d = 0; f->scope == OF_DEVICE && d < sample->status.device_count; d++)
            sample_print(&out, f, &figures.device[d], &labels.device[d]);
        for (size_t t = 0; f->scope == OF_SESSION && t < sample->count; t++)
            sample_print(&out, f, &figures.session[t], &labels.session[t]);
    }
    if (form == METRICS_OPENMETRICS)
        put_text(&out, "# EOF\n");
    *size = out.size;
    put(&out, "", 1);
    free(figures.session);
    metrics_labels_deinit(&labels, sample);
    return out.text;
}
