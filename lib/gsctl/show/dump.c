/*
 * dump.c - `gsctl dump`: prints the server, its devices, settings and sessions for scripts: one
 * line each, with fields separated by tabs. The first field is the kind of line; gsctl(1) describes
 * the others. A later version may add kinds of lines, and fields at the ends of lines, but does not
 * remove or move any. With --json the output is one document.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gsctl/ask/ask.h"
#include "gsctl/ask/rows.h"
#include "gsctl/ask/server.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/options.h"
#include "gsctl/show/show.h"

/* Prints a field after the line's first one. "-" stands for an empty field. Control characters are
 * replaced, so that a tenant's name can end neither a field nor a line. */
__attribute__((format(printf, 1, 2))) static void field(const char *format, ...)
{
    char text[SM_MASK_TEXT_MAX + 64];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    }
    printf("\t%s", *text ? text : "-");
}

static void field_number(uint64_t number)
{
    field("%" PRIu64, number);
}

/* Prints a pid or a limit; "-" if it is 0. */
static void field_if(uint64_t number)
{
    if (number)
        field_number(number);
    else
        field("-");
}

static void sms_field(const struct ctl_row *row)
{
    struct sm_mask mask = sm_mask_of(row->sm_mask);
    char text[SM_MASK_TEXT_MAX];

    field("%s", sm_mask_print(text, sizeof(text), &mask));
}

static void server_dump(const struct ctl_status_reply *r, const struct control *control)
{
    char owner[FORMAT_MAX];
    uint64_t refusals = 0;

    for (uint32_t status = 0; status < CTL_STATUSES; status++)
        refusals += r->refusals[status];
    fputs("server", stdout);
    field("%s", control->instance);
    field("%s", format_user(owner, control->owner));
    field("%u.%u.%u", r->server_version / 10000, r->server_version / 100 % 100,
          r->server_version % 100);
    field_number((uint32_t)r->server_pid);
    field_number(r->uptime_ns);
    field_number(r->tenants);
    field_number(r->tenants_max);
    field_number(r->sessions_total);
    field_number(refusals);
    putchar('\n');
}

static void device_dump(uint32_t index, const struct ctl_device *d)
{
    fputs("device", stdout);
    field_number(index);
    field("%s", device_state_name(d->state));
    field_if((uint32_t)d->worker_pid);
    field_number(d->sm_count);
    field_number(d->memory_used);
    field_number(d->memory_total);
    field_number(d->tenants);
    field_number(d->ending);
    field_number(d->faults);
    field("%u.%u", d->compute_major, d->compute_minor);
    field("%s", d->driver);
    field("%s", d->name);
    field("%s", d->uuid);
    field("%s", d->pci);
    for (uint32_t cause = 0; cause < CTL_TAKEOVERS; cause++)
        field_number(d->takeovers[cause]);
    field_number(d->drained);
    field_if((uint32_t)d->standby_pid);
    putchar('\n');
}

/* Prints a line for each setting. */
static void settings_dump(const struct ctl_row *row)
{
    const bool others = row_target(row) == CTL_USER && row->uid == CTL_OTHERS;
    char value[SETTING_TEXT_MAX], user[FORMAT_MAX];

    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *setting = &setting_fields[i];

        if (!(row->set.fields & setting->bit))
            continue;
        fputs("set", stdout);
        field("%s", others ? "others" : target_name(row_target(row)));
        if (row_target(row) == CTL_USER && !others)
            field("%s", format_user(user, row->uid));
        else if (row_target(row) == CTL_TENANT || row_target(row) == CTL_DEVICE)
            field_number(row_id(row));
        else
            field("-");
        field("%s", setting->name);
        field("%s", setting_print(value, &row->set, setting));
        putchar('\n');
    }
}

static void reservation_dump(const struct ctl_row *row)
{
    fputs("reservation", stdout);
    field("%s", row->name);
    field("%" PRId32, row->device);
    field_number(row->sm_count);
    sms_field(row);
    putchar('\n');
}

static void histogram_dump(const struct ctl_histogram *h)
{
    field_number(histogram_sum(h));
    field_number(h->sum_ns);
    field_number(histogram_quantile(h->count, 0.5));
    field_number(histogram_quantile(h->count, 0.99));
}

/* Prints a session. `row` is the session's; NULL if the session has come or gone between the two
 * answers. */
static void session_dump(const struct ctl_tenant *t, const struct ctl_row *row)
{
    char user[FORMAT_MAX];

    fputs("session", stdout);
    field_number(t->session_id);
    field_if((uint32_t)t->pid);
    field_number(t->uid);
    field("%s", format_user(user, t->uid));
    field("%" PRId32, t->device);
    field("%s", state_name(t->state));
    field_number(t->sm_count);
    field_number(t->exclusive);
    field("%s", class_name(t->cls));
    field("%" PRId32, t->priority);
    field_number(t->weight);
    field_number(t->memory_used);
    field_if(t->memory_limit);
    field_number(t->gpu_ns);
    field_number(t->launches);
    field_number(t->deadlines_missed);
    field_number(t->copies);
    field_number(t->copied_bytes);
    field_number(t->attached_ns);
    field_number(t->fenced);
    field("%s", t->name);
    field("%s", row ? row->reservation : "");
    if (row)
        sms_field(row);
    else
        field("-");
    field_number(t->sm_ns);
    field_number(t->strays);
    field_number(t->depth);
    histogram_dump(&t->wait);
    histogram_dump(&t->latency);
    putchar('\n');
}

/* Prints all sessions. Both answers are in the order of sessions, so one pass finds each session's
 * row. */
static void sessions_dump(const struct ctl_tenant *tenants, size_t count, const struct rows *rows)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t key = ctl_row_key(CTL_TENANT, tenants[i].session_id);

        while (at < rows->count && rows->row[at].key < key)
            at++;
        session_dump(&tenants[i],
                     at < rows->count && rows->row[at].key == key ? &rows->row[at] : NULL);
    }
}

/* Prints the documents of status, get and ps as one. */
static void json_dump(const struct ctl_status_reply *reply, const struct control *control,
                      const struct rows *rows, const struct ctl_tenant *tenants, size_t count,
                      uint32_t hidden)
{
    json_open(NULL, '{');
    json_text("instance", control->instance);
    json_open("server", '{');
    status_members_json(reply, control);
    json_close('}');
    rows_members_json(rows);
    json_number("tenants_hidden", hidden);
    json_open("tenants", '[');
    for (size_t i = 0; i < count; i++) {
        json_open(NULL, '{');
        tenant_members_json(&tenants[i]);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

static void text_dump(const struct ctl_status_reply *reply, const struct control *control,
                      const struct rows *rows, const struct ctl_tenant *tenants, size_t count)
{
    server_dump(reply, control);
    for (uint32_t i = 0; i < reply->device_count; i++)
        device_dump(i, &reply->device[i]);
    for (size_t i = 0; i < rows->count; i++) {
        if (row_target(&rows->row[i]) == CTL_RESERVATION)
            reservation_dump(&rows->row[i]);
        else
            settings_dump(&rows->row[i]);
    }
    sessions_dump(tenants, count, rows);
}

int command_dump(struct control *control, const struct command_options *options)
{
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply reply;
    struct ctl_tenant *tenants = NULL;
    struct rows rows = {0};
    uint32_t hidden = 0;
    size_t count = 0;
    gs_status status = status_read(control, &reply, message);

    if (status == GS_OK)
        status = rows_read(control, &rows, message);
    if (status == GS_OK)
        status = tenants_read(control, &tenants, &count, &hidden, message);
    if (status == GS_OK && options->json)
        json_dump(&reply, control, &rows, tenants, count, hidden);
    else if (status == GS_OK)
        text_dump(&reply, control, &rows, tenants, count);
    free(tenants);
    free(rows.row);
    return status == GS_OK ? 0 : ask_failed(status, message);
}
