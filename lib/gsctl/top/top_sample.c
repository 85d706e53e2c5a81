/* top_sample.c - reads the samples of `gsctl top` from the server, and prints them as JSON: see
 * top.h. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/show/show.h"
#include "gsctl/top/top.h"

#define SPAN_S 1u /* time span of a sample's rates without --watch */

struct top_sample top_sample_of(struct control *control, const struct command_options *options)
{
    return (struct top_sample){.control = control,
                               .sort = TOP_GPU,
                               .filtered = options->target_given,
                               .user = (uid_t)options->id};
}

void top_sample_sort(struct top_sample *sample)
{
    top_rows_sort(sample->row, sample->count, sample->sort, sample->reversed);
}

gs_status top_sample_take(struct top_sample *sample, char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_tenant *tenants = NULL;
    size_t count = 0;
    gs_status status = status_read(sample->control, &sample->status, message);
    uint64_t now;

    if (status == GS_OK)
        status = tenants_read(sample->control, &tenants, &count, NULL, message);
    if (status != GS_OK) {
        free(tenants);
        return status;
    }
    now = clock_ns();
    sample->span_ns = sample->last_ns ? now - sample->last_ns : 0;
    if (count)
        qsort(tenants, count, sizeof(*tenants), top_by_session);
    sample->row = memory_more(sample->row, count, sizeof(*sample->row));
    sample->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!sample->filtered || tenants[i].uid == sample->user)
            sample->row[sample->count++] = top_row_make(
                &tenants[i], sample->last, sample->last_count, sample->span_ns, &sample->status);
    }
    free(sample->last);
    sample->last = tenants;
    sample->last_count = count;
    sample->last_ns = now;
    top_sample_sort(sample);
    return GS_OK;
}

void top_sample_deinit(struct top_sample *sample)
{
    free(sample->row);
    free(sample->last);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void decimal_json(const char *name, double number)
{
    char digits[FORMAT_MAX];

    snprintf(digits, sizeof(digits), "%.3f", number);
    json_figure(name, digits);
}

/* Prints the members of ps's tenants, and top's own columns. */
static void row_json(const struct top_row *row)
{
    json_open(NULL, '{');
    tenant_members_json(&row->t);
    decimal_json("gpu_percent", row->gpu * 100);
    decimal_json("launches_per_s", row->launches);
    decimal_json("copied_bytes_per_s", row->copied);
    json_number("p50_ns", row->p50);
    json_number("p99_ns", row->p99);
    json_number("wait_p99_ns", row->wait_p99);
    decimal_json("memory_percent",
                 row->limit ? 100.0 * (double)row->t.memory_used / (double)row->limit : 0);
    json_number("faults", row->faults);
    json_close('}');
}

static void sample_json(const struct top_sample *sample)
{
    json_open(NULL, '{');
    json_text("instance", sample->control->instance);
    json_number("uptime_ns", sample->status.uptime_ns);
    json_number("span_ns", sample->span_ns);
    devices_json(&sample->status);
    json_open("tenants", '[');
    for (size_t i = 0; i < sample->count; i++)
        row_json(&sample->row[i]);
    json_close(']');
    json_close('}');
}

int top_json(struct control *control, const struct command_options *options)
{
    const time_t span_s = (time_t)(options->watch_s ? options->watch_s : SPAN_S);
    struct top_sample sample = top_sample_of(control, options);
    char message[REQUEST_MESSAGE_MAX];
    gs_status status = top_sample_take(&sample, message);

    do {
        if (status == GS_OK)
            nanosleep(&(struct timespec){.tv_sec = span_s}, NULL);
        if (status == GS_OK)
            status = top_sample_take(&sample, message);
        if (status == GS_OK)
            sample_json(&sample);
    } while (status == GS_OK && options->watch_s && fflush(stdout) == 0);
    top_sample_deinit(&sample);
    return status == GS_OK ? 0 : ask_failed(status, message);
}
