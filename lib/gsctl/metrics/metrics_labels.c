/*
 * metrics_labels.c - the labels of the figures of `gsctl metrics`: see metrics.h. Labels that
 * dcgm-exporter has too (gpu, UUID, pci_bus_id, modelName, Hostname, namespace, pod, container)
 * have the same names, so that series of both can be joined.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl/ask/server.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/metrics/metrics.h"
#include "gsctl/metrics/pod.h"

void metrics_value_put(const char *value, void (*put)(void *to, const char *part, size_t size),
                       void *to)
{
    const char *plain = value; /* beginning of the characters that need no escape */

    put(to, "\"", 1);
    while (*value) {
        const unsigned char first = (unsigned char)*value;
        const size_t length = utf8_length((const unsigned char *)value);
        const char *instead = length == 0                     ? "\xef\xbf\xbd" /* U+FFFD */
                              : first < ' ' || first == 0x7f  ? "?"
                              : first == '"' || first == '\\' ? "\\"
                                                              : NULL;

        if (instead) {
            put(to, plain, (size_t)(value - plain));
            put(to, instead, strlen(instead));
            /* A quote or backslash itself follows its escaping backslash. */
            plain = *instead == '\\' ? value : value + 1;
        }
        value += length ? length : 1;
    }
    put(to, plain, (size_t)(value - plain));
    put(to, "\"", 1);
}

static void put_file(void *to, const char *part, size_t size)
{
    fwrite(part, 1, size, to);
}

static void label(FILE *out, const char *before, const char *name, const char *value)
{
    fprintf(out, "%s%s=", before, name);
    metrics_value_put(value, put_file, out);
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

/* Prints the labels that name a device, which figures of its sessions have too. */
static void device_labels(FILE *out, const struct metrics_sample *s, uint32_t index)
{
    label_number(out, ",", "gpu", index);
    if (index < s->status.device_count)
        label(out, ",", "UUID", s->status.device[index].uuid);
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

/* Returns whether server and this process are in the same PID namespace, so that a pid means the
 * same process to both. */
static bool pids_shared(const struct metrics_sample *s)
{
    char path[64], name[16] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%" PRId32 "/comm", s->status.server_pid);
    file = fopen(path, "re");
    if (file && !fgets(name, sizeof(name), file))
        *name = 0;
    if (file)
        fclose(file);
    return !strcmp(name, "gshared\n");
}

/* A cache of the last process's pod, since the sessions of a process mostly follow each other. */
struct pods {
    struct pod_logs logs;
    bool shared;
    int32_t pid;
    struct pod pod;
};

static const struct pod *pod_find(struct pods *pods, int32_t pid)
{
    if (pid == pods->pid)
        return &pods->pod;
    pods->pid = pid;
    pods->pod = (struct pod){.uid = ""};
    if (pods->shared && pid && pod_of(pid, &pods->pod))
        pod_name(&pods->logs, &pods->pod);
    return &pods->pod;
}

static void pod_labels(FILE *out, const struct pod *pod)
{
    if (!*pod->name)
        return;
    label(out, ",", "namespace", pod->namespace);
    label(out, ",", "pod", pod->name);
    label(out, ",", "container", pod->container);
}

static void session_info(FILE *out, const struct ctl_tenant *t, const struct pod *pod)
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
    if (*pod->uid) {
        label(out, ",", "pod_uid", pod->uid);
        label(out, ",", "container_id", pod->id);
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

static FILE *text_open(struct metrics_text *text)
{
    FILE *out = open_memstream(&text->text, &text->size);

    if (!out)
        memory_more(NULL, SIZE_MAX, 2); /* ends the program */
    return out;
}

static void text_close(FILE *out)
{
    if (fclose(out) != 0)
        memory_more(NULL, SIZE_MAX, 2);
}

void metrics_labels_init(struct metrics_labels *labels, const struct metrics_sample *s)
{
    FILE *out = text_open(&labels->server.labels);
    struct pods pods = {.shared = s->count && pids_shared(s)};

    server_labels(out, s);
    text_close(out);
    out = text_open(&labels->server.info);
    if (s->up)
        server_info(out, s);
    text_close(out);
    for (uint32_t d = 0; d < s->status.device_count; d++) {
        out = text_open(&labels->device[d].labels);
        fputs(labels->server.labels.text, out);
        device_labels(out, s, d);
        label(out, ",", "modelName", s->status.device[d].name);
        label(out, ",", "pci_bus_id", s->status.device[d].pci);
        text_close(out);
        out = text_open(&labels->device[d].info);
        device_info(out, &s->status.device[d]);
        text_close(out);
    }
    labels->session = memory_more(NULL, s->count, sizeof(*labels->session));
    if (pods.shared)
        pods.logs = pod_logs_read(POD_LOGS);
    for (size_t i = 0; i < s->count; i++) {
        const struct pod *pod = pod_find(&pods, s->tenants[i].pid);

        out = text_open(&labels->session[i].labels);
        fputs(labels->server.labels.text, out);
        device_labels(out, s, (uint32_t)s->tenants[i].device);
        session_labels(out, &s->tenants[i]);
        pod_labels(out, pod);
        text_close(out);
        out = text_open(&labels->session[i].info);
        session_info(out, &s->tenants[i], pod);
        text_close(out);
    }
    pod_logs_free(&pods.logs);
}

static void both_free(struct metrics_both *both)
{
    free(both->labels.text);
    free(both->info.text);
}

void metrics_labels_deinit(struct metrics_labels *labels, const struct metrics_sample *s)
{
    both_free(&labels->server);
    for (uint32_t d = 0; d < s->status.device_count; d++)
        both_free(&labels->device[d]);
    for (size_t i = 0; i < s->count; i++)
        both_free(&labels->session[i]);
    free(labels->session);
}
