/*
 * metrics_text.c - the figures of `gsctl metrics`, from one table, in the two text forms that
 * Prometheus's programs read: see metrics.h. Labels that dcgm-exporter has too (gpu, modelName,
 * Hostname) have its names, so that series of both join.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl/metrics.h"

enum type { GAUGE, COUNTER, INFO };
enum scope { OF_SERVER, OF_DEVICE, OF_SESSION };

/* The figures of a device or a session that are not in its answer. */
struct device_figures {
    struct ctl_device d;
    uint32_t ready;
};
struct server_figures {
    struct ctl_status_reply r;
    uint32_t up;
};

/* ---- The table ------------------------------------------------------------------------------- */

/* A family: its samples are one member of the scope's struct, which has 4 or 8 bytes. */
#define OF(structure, member) offsetof(structure, member), sizeof(((structure *)0)->member)
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
    {"gshare_session", INFO, NULL, "A session.", SESSION(session_id)},
    {"gshare_session_age_seconds", GAUGE, "seconds", "Time since the session attached.",
     SESSION(attached_ns)},
    {"gshare_sms", GAUGE, NULL, "SMs that the session may use.", SESSION(sm_count)},
    {"gshare_memory_used_bytes", GAUGE, "bytes", "Device memory that the session holds.",
     SESSION(memory_used)},
    {"gshare_memory_limit_bytes", GAUGE, "bytes",
     "Device memory that the session may hold; the device's where nothing limits it.",
     SESSION(memory_limit)},
    {"gshare_launches", COUNTER, NULL, "Kernels that the session has launched.", SESSION(launches)},
    {"gshare_kernel_seconds", COUNTER, "seconds", "Time of the session's work on the device.",
     SESSION(gpu_ns)},
    {"gshare_deadlines_missed", COUNTER, NULL, "Launches that missed their deadline.",
     SESSION(deadlines_missed)},
    {"gshare_copies", COUNTER, NULL, "Copies of the session.", SESSION(copies)},
    {"gshare_copied_bytes", COUNTER, "bytes", "Bytes that the session has copied.",
     SESSION(copied_bytes)},
};

static const char *const suffixes[] = {[GAUGE] = "", [COUNTER] = "_total", [INFO] = "_info"};
static const char *const types[] = {[GAUGE] = "gauge", [COUNTER] = "counter", [INFO] = "info"};

const char *metrics_content_type(enum metrics_form form)
{
    return form == METRICS_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- Labels ---------------------------------------------------------------------------------- */

/* The value is text from anywhere, also a tenant's. */
static void label(FILE *out, const char *before, const char *name, const char *value)
{
    const unsigned char *s = (const unsigned char *)value;

    fprintf(out, "%s%s=\"", before, name);
    while (*s) {
        size_t length = utf8_length(s);

        if (length == 0)
            fputs("\xef\xbf\xbd", out); /* U+FFFD */
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < ' ' || *s == 0x7f)
            fputc('?', out);
        else
            fwrite(s, 1, length, out);
        s += length ? length : 1;
    }
    fputc('"', out);
}

static void label_number(FILE *out, const char *before, const char *name, uint64_t number)
{
    char text[FORMAT_MAX];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    label(out, before, name, text);
}

static void server_labels(FILE *out, const struct metrics_sample *s)
{
    char host[256];

    if (gethostname(host, sizeof(host)) != 0)
        snprintf(host, sizeof(host), "?");
    host[sizeof(host) - 1] = 0;
    label(out, "{", "server", s->instance);
    label(out, ",", "Hostname", host);
}

static void server_info(FILE *out, const struct metrics_sample *s)
{
    char text[FORMAT_MAX];
    const uint32_t version = s->status.server_version;

    snprintf(text, sizeof(text), "%u.%u.%u", version / 10000, version / 100 % 100, version % 100);
    label(out, ",", "version", text);
    label(out, ",", "owner", format_user(text, s->owner));
}

static void device_labels(FILE *out, const struct metrics_sample *s, uint32_t index)
{
    label_number(out, ",", "gpu", index);
    if (index < s->status.device_count)
        label(out, ",", "modelName", s->status.device[index].name);
}

static void device_info(FILE *out, const struct ctl_device *d)
{
    char text[FORMAT_MAX];

    snprintf(text, sizeof(text), "%u.%u", d->compute_major, d->compute_minor);
    label(out, ",", "compute", text);
    label(out, ",", "driver", d->driver);
    label(out, ",", "state", device_state_name(d->state));
}

static void session_labels(FILE *out, const struct ctl_tenant *t)
{
    char user[FORMAT_MAX];

    label_number(out, ",", "session", t->session_id);
    label(out, ",", "user", format_user(user, t->uid));
    label(out, ",", "name", t->name);
}

static void session_info(FILE *out, const struct ctl_tenant *t)
{
    char text[FORMAT_MAX];

    if (t->pid)
        label_number(out, ",", "pid", (uint32_t)t->pid);
    label_number(out, ",", "uid", t->uid);
    label(out, ",", "class", class_name(t->cls));
    snprintf(text, sizeof(text), "%" PRId32, t->priority);
    label(out, ",", "priority", text);
    label_number(out, ",", "weight", t->weight);
    label_number(out, ",", "exclusive", t->exclusive);
    label_number(out, ",", "fenced", t->fenced);
    label(out, ",", "state", state_name(t->state));
}

/* The labels of the server, of each device and of each session, written once: every family has them
 * again, and a thousand sessions are a thousand look-ups of users. */
struct labels {
    char *server, *device[ARRAY_SIZE(((struct ctl_status_reply *)0)->device)];
    char **session;
};

static FILE *text_open(char **text, size_t *size)
{
    FILE *out = open_memstream(text, size);

    if (!out)
        memory_more(NULL, SIZE_MAX, 2); /* ends the program */
    return out;
}

static void text_close(FILE *out)
{
    if (fclose(out) != 0)
        memory_more(NULL, SIZE_MAX, 2);
}

static void labels_init(struct labels *labels, const struct metrics_sample *s)
{
    size_t size;
    FILE *out = text_open(&labels->server, &size);

    server_labels(out, s);
    text_close(out);
    for (uint32_t d = 0; d < s->status.device_count; d++) {
        out = text_open(&labels->device[d], &size);
        fputs(labels->server, out);
        device_labels(out, s, d);
        text_close(out);
    }
    labels->session = memory_more(NULL, s->count, sizeof(*labels->session));
    for (size_t i = 0; i < s->count; i++) {
        out = text_open(&labels->session[i], &size);
        fputs(labels->server, out);
        device_labels(out, s, (uint32_t)s->tenants[i].device);
        session_labels(out, &s->tenants[i]);
        text_close(out);
    }
}

static void labels_deinit(struct labels *labels, const struct metrics_sample *s)
{
    free(labels->server);
    for (uint32_t d = 0; d < s->status.device_count; d++)
        free(labels->device[d]);
    for (size_t i = 0; i < s->count; i++)
        free(labels->session[i]);
    free(labels->session);
}

/* ---- Samples --------------------------------------------------------------------------------- */

static void value_print(FILE *out, const struct family *f, const void *structure)
{
    const unsigned char *at = (const unsigned char *)structure + f->offset;
    uint64_t value = 0;
    uint32_t word;

    if (f->size == sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        value = word;
    } else {
        memcpy(&value, at, sizeof(value));
    }
    if (f->type == INFO)
        fputs("} 1\n", out);
    else if (f->unit && !strcmp(f->unit, "seconds"))
        fprintf(out, "} %" PRIu64 ".%09" PRIu64 "\n", value / 1000000000u, value % 1000000000u);
    else
        fprintf(out, "} %" PRIu64 "\n", value);
}

static void server_print(FILE *out, const struct family *f, const struct metrics_sample *s,
                         const char *labels)
{
    const struct server_figures figures = {.r = s->status, .up = s->up};

    fprintf(out, "%s%s%s", f->name, suffixes[f->type], labels);
    if (f->type == INFO)
        server_info(out, s);
    value_print(out, f, &figures);
}

static void device_print(FILE *out, const struct family *f, const struct metrics_sample *s,
                         uint32_t index, const char *labels)
{
    const struct ctl_device *d = &s->status.device[index];
    const struct device_figures figures = {.d = *d, .ready = d->state == CTL_DEVICE_READY};

    fprintf(out, "%s%s%s", f->name, suffixes[f->type], labels);
    if (f->type == INFO)
        device_info(out, d);
    value_print(out, f, &figures);
}

static void session_print(FILE *out, const struct family *f, const struct metrics_sample *s,
                          const struct ctl_tenant *t, const char *labels)
{
    struct ctl_tenant figures = *t;

    if (figures.memory_limit == 0 && (uint32_t)t->device < s->status.device_count)
        figures.memory_limit = s->status.device[t->device].memory_total;
    fprintf(out, "%s%s%s", f->name, suffixes[f->type], labels);
    if (f->type == INFO)
        session_info(out, t);
    value_print(out, f, &figures);
}

/* Prometheus's own form has the suffix in the family's name, and no infos and units. */
static void family_head(FILE *out, const struct family *f, enum metrics_form form)
{
    if (form == METRICS_PROMETHEUS) {
        fprintf(out, "# HELP %s%s %s\n", f->name, suffixes[f->type], f->help);
        fprintf(out, "# TYPE %s%s %s\n", f->name, suffixes[f->type],
                types[f->type == INFO ? GAUGE : f->type]);
        return;
    }
    fprintf(out, "# TYPE %s %s\n", f->name, types[f->type]);
    if (f->unit)
        fprintf(out, "# UNIT %s %s\n", f->name, f->unit);
    fprintf(out, "# HELP %s %s\n", f->name, f->help);
}

char *metrics_text(const struct metrics_sample *sample, enum metrics_form form, size_t *size)
{
    char *text = NULL;
    FILE *out = text_open(&text, size);
    struct labels labels;

    labels_init(&labels, sample);
    for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
        const struct family *f = &families[i];

        if (!sample->up && i > 0)
            break;
        family_head(out, f, form);
        if (f->scope == OF_SERVER)
            server_print(out, f, sample, labels.server);
        for (uint32_t d = 0; f->scope == OF_DEVICE && d < sample->status.device_count; d++)
            device_print(out, f, sample, d, labels.device[d]);
        for (size_t t = 0; f->scope == OF_SESSION && t < sample->count; t++)
            session_print(out, f, sample, &sample->tenants[t], labels.session[t]);
    }
    if (form == METRICS_OPENMETRICS)
        fputs("# EOF\n", out);
    text_close(out);
    labels_deinit(&labels, sample);
    return text;
}
