/* top_row.c - see top.h. */
#include "gsctl/ask/tenants.h"
#include "gsctl/base/format.h"
#include "gsctl/top/top.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/util.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

int top_by_session(const void *a, const void *b)
{
    const struct ctl_tenant *x = a, *y = b;

    return (x->session_id > y->session_id) - (x->session_id < y->session_id);
}

static double rate(uint64_t now, uint64_t before, uint64_t ns)
{
    return now > before && ns ? (double)(now - before) * 1e9 / (double)ns : 0;
}

/* Returns the counts since `before`; NULL: all counts. */
static struct ctl_histogram histogram_since(const struct ctl_histogram *now,
                                            const struct ctl_histogram *before)
{
    struct ctl_histogram since = *now;

    for (uint32_t i = 0; before && i < HISTOGRAM_BUCKETS; i++)
        since.count[i] -= before->count[i] < since.count[i] ? before->count[i] : since.count[i];
    return since;
}

static uint32_t faults_of(const struct ctl_tenant *t, const struct ctl_status_reply *status)
{
    uint32_t faults = 0;

    for (uint32_t d = 0; d < status->device_count; d++) {
        for (uint32_t i = 0; i < CTL_BLAMED; i++) {
            const struct ctl_blamed *blamed = &status->device[d].blamed[i];

            faults += blamed->uid == t->uid ? blamed->count : 0;
        }
    }
    return faults;
}

struct top_row top_row_make(const struct ctl_tenant *t, const struct ctl_tenant *last,
                            size_t last_count, uint64_t ns, const struct ctl_status_reply *status)
{
    const struct ctl_tenant *before =
        last ? bsearch(t, last, last_count, sizeof(*t), top_by_session) : NULL;
    const struct ctl_histogram latency =
        histogram_since(&t->latency, before ? &before->latency : NULL);
    const struct ctl_histogram wait = histogram_since(&t->wait, before ? &before->wait : NULL);
    struct top_row row = {.t = *t, .limit = t->memory_limit, .faults = faults_of(t, status)};

    if (before) {
        row.gpu = rate(t->gpu_ns, before->gpu_ns, ns) * 1e-9;
        row.launches = rate(t->launches, before->launches, ns);
        row.copied = rate(t->copied_bytes, before->copied_bytes, ns);
    }
    row.p50 = histogram_quantile(latency.count, 0.5);
    row.p99 = histogram_quantile(latency.count, 0.99);
    row.wait_p99 = histogram_quantile(wait.count, 0.99);
    if (!row.limit && (uint32_t)t->device < status->device_count)
        row.limit = status->device[t->device].memory_total;
    return row;
}

/* ---- Sorting --------------------------------------------------------------------------------- */

static enum top_sort sorted_by; /* for qsort, which takes no argument */
static bool sorted_up;

static double sort_value(const struct top_row *row)
{
    switch (sorted_by) {
    case TOP_SMS:
        return row->t.sm_count;
    case TOP_GPU:
        return row->gpu;
    case TOP_LAUNCHES:
        return row->launches;
    case TOP_MEMORY:
        return (double)row->t.memory_used;
    case TOP_LATENCY:
        return (double)row->p99;
    case TOP_DEPTH:
        return (double)row->t.depth;
    case TOP_STRAYS:
        return (double)row->t.strays;
    default:
        return -(double)row->t.session_id; /* the oldest session on top */
    }
}

static int by_value(const void *a, const void *b)
{
    double x = sort_value(a), y = sort_value(b);
    int order = (x < y) - (x > y);

    if (order == 0)
        return top_by_session(&((const struct top_row *)a)->t, &((const struct top_row *)b)->t);
    return sorted_up ? -order : order;
}

void top_rows_sort(struct top_row *row, size_t count, enum top_sort sort, bool reversed)
{
    sorted_by = sort;
    sorted_up = reversed;
    qsort(row, count, sizeof(*row), by_value);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void session_text(char out[FORMAT_MAX], const struct top_row *row)
{
    snprintf(out, FORMAT_MAX, "%llu", (unsigned long long)row->t.session_id);
}

static void pid_text(char out[FORMAT_MAX], const struct top_row *row)
{
    snprintf(out, FORMAT_MAX, row->t.pid ? "%d" : "-", row->t.pid);
}

static void user_text(char out[FORMAT_MAX], const struct top_row *row)
{
    format_user(out, row->t.uid);
}

static void sms_text(char out[FORMAT_MAX], const struct top_row *row)
{
    snprintf(out, FORMAT_MAX, row->t.sm_count ? "%u%s" : "-", row->t.sm_count,
             row->t.exclusive ? "!" : "");
}

static void gpu_text(char out[FORMAT_MAX], const struct top_row *row)
{
    snprintf(out, FORMAT_MAX, "%.1f", row->gpu * 100);
}

static void launches_text(char out[FORMAT_MAX], const struct top_row *row)
{
    format_count(out, (uint64_t)(row->launches + 0.5));
}

static void p50_text(char out[FORMAT_MAX], const struct top_row *row)
{
    format_time(out, row->p50);
}

static void p99_text(char out[FORMAT_MAX], const struct top_row *row)
{
    format_time(out, row->p99);
}

static void wait_text(char out[FORMAT_MAX], const struct top_row *row)
{
    format_time(out, row->wait_p99);
}

static void depth_text(char out[FORMAT_MAX], const struct top_row *row)
{
    format_count(out, row->t.depth);
}

static void memory_text(char out[FORMAT_MAX], const struct top_row *row)
{
    size_rounded(out, row->t.memory_used);
}

static void part_text(char out[FORMAT_MAX], const struct top_row *row)
{
    snprintf(out, FORMAT_MAX, row->limit ? "%.0f" : "-",
             row->limit ? 100.0 * (double)row->t.memory_used / (double)row->limit : 0);
}

static void limit_text(char out[FORMAT_MAX], const struct top_row *row)
{
    if (row->t.memory_limit)
        size_rounded(out, row->t.memory_limit);
    else
        snprintf(out, FORMAT_MAX, "-");
}

static void strays_text(char out[FORMAT_MAX], const struct top_row *row)
{
    format_count(out, row->t.strays);
}

static void faults_text(char out[FORMAT_MAX], const struct top_row *row)
{
    format_count(out, row->faults);
}

static void class_text(char out[FORMAT_MAX], const struct top_row *row)
{
    snprintf(out, FORMAT_MAX, "%s", class_name(row->t.cls));
}

static void weight_text(char out[FORMAT_MAX], const struct top_row *row)
{
    snprintf(out, FORMAT_MAX, "%u", row->t.weight);
}

static void late_text(char out[FORMAT_MAX], const struct top_row *row)
{
    format_count(out, row->t.deadlines_missed);
}

static void copied_text(char out[FORMAT_MAX], const struct top_row *row)
{
    size_rounded(out, (uint64_t)row->copied);
}

static void state_text(char out[FORMAT_MAX], const struct top_row *row)
{
    snprintf(out, FORMAT_MAX, "%s", state_name(row->t.state));
}

static void name_text(char out[FORMAT_MAX], const struct top_row *row)
{
    snprintf(out, FORMAT_MAX, "%s", row->t.name);
}

/* A terminal of 80 columns has room for a tenant's activity and waits, and 6 letters of its name,
 * but not for pid and bytes, which ps shows. The first line has the pid and the whole name of the
 * selected session. 100 columns leave 17 letters for the name, 120 leave 20, 170 leave 19. */
const struct top_column top_columns[] = {
    {"SESSION", 7, 0, session_text},   {"PID", 7, TOP_PIDS_FROM, pid_text},
    {"USER", -8, 0, user_text},        {"SMS", 4, 0, sms_text},
    {"GPU%", 5, 0, gpu_text},          {"LAUNCH/s", 8, 0, launches_text},
    {"P50", 5, 0, p50_text},           {"P99", 5, 0, p99_text},
    {"WAIT99", 6, 170, wait_text},     {"QUEUE", 5, 0, depth_text},
    {"MEMORY", 8, 100, memory_text},   {"LIMIT", 8, 120, limit_text},
    {"MEM%", 4, 0, part_text},         {"STRAYS", 6, 0, strays_text},
    {"FAULTS", 6, 0, faults_text},     {"CLASS", -11, 170, class_text},
    {"WEIGHT", 6, 170, weight_text},   {"LATE", 5, 170, late_text},
    {"COPIED/s", 9, 170, copied_text}, {"STATE", -9, 170, state_text},
    {"NAME", -31, 0, name_text},
};
const size_t top_column_count = ARRAY_SIZE(top_columns);
