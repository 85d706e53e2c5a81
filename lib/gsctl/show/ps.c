/* ps.c - `gsctl ps`: the tenants, in the order in which they attached. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/options.h"
#include "gsctl/show/show.h"

static const char *const header[] = {
    "SESSION", "PID",      "USER", "DEV",    "SMS", "CLASS", "PRIO",   "WEIGHT", "MEMORY", "LIMIT",
    "GPU",     "LAUNCHES", "LATE", "COPIED", "UP",  "STATE", "FENCED", "STRAYS", "NAME"};
static const bool right[] = {true, true, false, true, true, false, true,  true, true, true,
                             true, true, true,  true, true, false, false, true, false};
/* The usual text of each column: a column that has no other text is left out. --json prints all. */
static const char *const dull[] = {NULL, NULL, NULL, "0",  NULL, "normal",   "0",  "1", NULL, NULL,
                                   NULL, NULL, "0",  NULL, NULL, "attached", "no", "0", NULL};
/* The columns that a narrow terminal leaves out: COPIED, LIMIT, UP, FENCED, WEIGHT, PRIO, LATE. */
static const unsigned char spare[] = {13, 9, 14, 16, 7, 6, 12};
#define COLUMNS (sizeof(header) / sizeof(header[0]))
static_assert(COLUMNS == sizeof(right) / sizeof(right[0]) &&
                  COLUMNS == sizeof(dull) / sizeof(dull[0]) && COLUMNS <= TABLE_COLUMNS_MAX,
              "columns of ps");

static void add_number(struct table *table, long long number)
{
    char text[FORMAT_MAX];

    snprintf(text, sizeof(text), "%lld", number);
    table_add(table, text);
}

static const char *fence_name(uint32_t fenced)
{
    static const char *const names[] = {"no", "yes", "report", "strict"};

    return fenced < ARRAY_SIZE(names) ? names[fenced] : "?";
}

static void add_row(struct table *table, const struct ctl_tenant *t)
{
    char text[FORMAT_MAX];

    add_number(table, (long long)t->session_id);
    if (t->pid)
        add_number(table, t->pid);
    else
        table_add(table, "-");
    table_add(table, format_user(text, t->uid));
    add_number(table, t->device);
    snprintf(text, sizeof(text), "%u%s", t->sm_count, t->exclusive ? "!" : "");
    table_add(table, t->sm_count ? text : "-");
    table_add(table, class_name(t->cls));
    add_number(table, t->priority);
    if (t->weight)
        add_number(table, t->weight);
    else
        table_add(table, "-"); /* a session that was lost has none */
    table_add(table, size_rounded(text, t->memory_used));
    table_add(table, t->memory_limit ? size_rounded(text, t->memory_limit) : "-");
    snprintf(text, sizeof(text), "%.3f s", (double)t->gpu_ns * 1e-9);
    table_add(table, text);
    table_add(table, format_count(text, t->launches));
    table_add(table, format_count(text, t->deadlines_missed));
    table_add(table, size_rounded(text, t->copied_bytes));
    table_add(table, format_duration(text, t->attached_ns));
    table_add(table, state_name(t->state));
    table_add(table, fence_name(t->fenced));
    table_add(table, format_count(text, t->strays));
    table_add(table, t->name);
}

/* The counts are of times up to 10 us, 20 us ... 1 s, and above. */
static void histogram_json(const char *name, const struct ctl_histogram *h)
{
    json_open(name, '{');
    json_number("count", histogram_sum(h));
    json_number("sum_ns", h->sum_ns);
    json_number("p50_ns", histogram_quantile(h->count, 0.5));
    json_number("p99_ns", histogram_quantile(h->count, 0.99));
    json_open("counts", '[');
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        json_number(NULL, h->count[i]);
    json_close(']');
    json_close('}');
}

void tenant_members_json(const struct ctl_tenant *t)
{
    json_number("session", t->session_id);
    json_pid("pid", t->pid);
    json_user(t->uid);
    json_number("device", (uint32_t)t->device);
    json_number("sm_count", t->sm_count);
    json_number("exclusive", t->exclusive);
    json_text("class", class_name(t->cls));
    json_integer("priority", t->priority);
    json_number("weight", t->weight);
    json_number("gpu_ns", t->gpu_ns);
    json_number("deadlines_missed", t->deadlines_missed);
    json_number("memory_used", t->memory_used);
    json_number("memory_limit", t->memory_limit);
    json_number("launches", t->launches);
    json_number("copies", t->copies);
    json_number("copied_bytes", t->copied_bytes);
    json_number("attached_ns", t->attached_ns);
    json_text("state", state_name(t->state));
    json_text("name", t->name);
    json_number("fenced", t->fenced);
    json_number("sm_ns", t->sm_ns);
    json_number("strays", t->strays);
    json_number("queue_depth", t->depth);
    json_number("driver_memory", t->driver_memory);
    histogram_json("queue_wait", &t->wait);
    histogram_json("launch_latency", &t->latency);
}

int command_ps(struct control *control, const struct command_options *options)
{
    struct table table = {.header = header,
                          .right = right,
                          .dull = dull,
                          .spare = spare,
                          .spare_count = sizeof(spare),
                          .columns = COLUMNS};
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_tenant *all;
    uint32_t hidden;
    size_t count;
    /* The answer is printed only when it is complete, so that a failing command prints no part of a
     * document. */
    gs_status status = tenants_read(control, &all, &count, &hidden, message);

    if (status != GS_OK) {
        free(all);
        return ask_failed(status, message);
    }

    if (options->json) {
        json_open(NULL, '{');
        json_text("instance", options->instance);
        json_number("tenants_hidden", hidden);
        json_open("tenants", '[');
    }
    for (size_t i = 0; i < count; i++) {
        if (!options->json) {
            add_row(&table, &all[i]);
            continue;
        }
        json_open(NULL, '{');
        tenant_members_json(&all[i]);
        json_close('}');
    }
    if (options->json) {
        json_close(']');
        json_close('}');
    } else {
        table_print(&table);
        if (message[0])
            fprintf(stderr, "%s\n", message);
    }
    table_deinit(&table);
    free(all);
    return 0;
}
