/* get.c - `gsctl get`: the settings, and what each session was granted under them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gsctl/ask/ask.h"
#include "gsctl/ask/rows.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/options.h"
#include "gsctl/show/show.h"

#define CONTINUED 9 /* columns before the settings in a continued line */
#define UNFIT     " (does not fit, see the server's log)"

/* ---- Printing -------------------------------------------------------------------------------- */

static const char *mask_text(char out[SM_MASK_TEXT_MAX], const struct ctl_row *row)
{
    struct sm_mask mask = sm_mask_of(row->sm_mask);

    return sm_mask_print(out, SM_MASK_TEXT_MAX, &mask);
}

/* Prints the settings, from a column on. Lines on a terminal are broken between two settings. */
static void set_text(const struct ctl_row *row, const char *nothing, int column)
{
    const int columns = isatty(STDOUT_FILENO) ? (int)columns_wanted() : INT_MAX;
    const struct ctl_settings *set = &row->set;
    char value[SETTING_TEXT_MAX], text[SETTING_TEXT_MAX + 96];
    bool some = false;

    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];

        if (!(set->fields & field->bit))
            continue;
        const int length =
            snprintf(text, sizeof(text), "%s %s%s", field->name, setting_print(value, set, field),
                     row->unfit & field->bit ? UNFIT : "");
        const bool fits = column + (int)strlen(", ,") + length <= columns;

        column += some ? printf("%s", fits ? ", " : ",\n") : 0;
        if (some && !fits)
            column = printf("%*s", CONTINUED, "");
        column += printf("%s", text);
        some = true;
    }
    puts(some ? "" : nothing);
}

static void session_text(const struct ctl_row *row)
{
    char mask[SM_MASK_TEXT_MAX], memory[FORMAT_MAX], user[FORMAT_MAX];

    printf("session %llu (%s, %s)%s%s\n", row_id(row), format_user(user, row->uid), row->name,
           row->state == CTL_TENANT_ATTACHED ? "" : ", ",
           row->state == CTL_TENANT_ATTACHED ? "" : state_name(row->state));
    printf("    has  %u SMs%s of device %d: %s\n", row->sm_count,
           row->exclusive ? ", for it alone," : "", row->device, mask_text(mask, row));
    printf("         class %s, priority %d, weight %u", class_name(row->cls), row->priority,
           row->weight);
    if (row->launches_max)
        printf(", %u kernels in flight", row->launches_max);
    if (row->mem_limit)
        printf(", memory %s", size_rounded(memory, row->mem_limit));
    if (row->user_mem_limit)
        printf(", its user's memory %s", size_rounded(memory, row->user_mem_limit));
    if (row->reservation[0])
        printf(", in reservation %s", row->reservation);
    putchar('\n');
    set_text(row, "nothing", printf("    set  "));
}

/* Returns the text in place of the settings of a user without a row. */
static const char *no_settings(uint32_t uid)
{
    const uid_t own = geteuid();

    return own == 0 || own == uid || uid == CTL_OTHERS
               ? "nothing is set"
               : "nothing is set, or it is not shown to you";
}

static void row_text(const struct ctl_row *row)
{
    char mask[SM_MASK_TEXT_MAX], user[FORMAT_MAX];

    switch (row_target(row)) {
    case CTL_DEFAULT:
        set_text(row, "nothing is set", printf("default: "));
        break;
    case CTL_USER:
        set_text(
            row, no_settings(row->uid),
            printf("%s%s: ", row->uid == CTL_OTHERS ? "" : "user ", format_user(user, row->uid)));
        break;
    case CTL_DEVICE:
        printf("device %d: best-effort work leaves %u SMs to latency work%s%s%s\n", row->device,
               row->sm_count, row->sm_count ? ": " : "", mask_text(mask, row),
               row->unfit ? "; latency-sms" UNFIT : "");
        break;
    case CTL_RESERVATION:
        printf("reservation %s: ", row->name);
        if (row->sm_count)
            printf("%u SMs of device %d: %s\n", row->sm_count, row->device, mask_text(mask, row));
        else if (row->state == CTL_NO_SUCH_DEVICE)
            printf("nothing is reserved, the server has no device %d\n", row->device);
        else
            printf("nothing is reserved on device %d" UNFIT "\n", row->device);
        break;
    case CTL_TENANT:
        session_text(row);
        break;
    case CTL_SESSIONS_OF: /* no row has this target */
        break;
    }
}

static void set_json(const struct ctl_settings *set)
{
    char value[SETTING_TEXT_MAX];

    json_open("set", '{');
    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];

        if (!(set->fields & field->bit))
            continue;
        if (field->kind == SETTING_PERCENT)
            json_figure(field->name, setting_print(value, set, field));
        else if (field->kind == SETTING_NUMBER || field->kind == SETTING_BYTES)
            json_number(field->name, setting_number(set, field));
        else
            json_text(field->name, setting_print(value, set, field));
    }
    json_close('}');
}

/* Prints the fields that do not fit; nothing if all fit. */
static void unfit_json(const struct ctl_row *row)
{
    if (!row->unfit)
        return;
    json_open("unfit", '[');
    for (size_t i = 0; i < setting_field_count; i++) {
        if (row->unfit & setting_fields[i].bit)
            json_text(NULL, setting_fields[i].name);
    }
    json_close(']');
}

static const char *reservation_state_name(uint32_t state)
{
    static const char *const names[] = {[CTL_RESERVED] = "reserved",
                                        [CTL_NOT_RESERVED] = "does not fit",
                                        [CTL_NO_SUCH_DEVICE] = "no such device"};

    return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

void row_members_json(const struct ctl_row *row)
{
    enum ctl_target target = row_target(row);
    char mask[SM_MASK_TEXT_MAX];

    json_text("kind",
              target == CTL_USER && row->uid == CTL_OTHERS ? "others" : target_name(target));
    if (target == CTL_TENANT)
        json_number("session", row_id(row));
    if (target == CTL_TENANT || (target == CTL_USER && row->uid != CTL_OTHERS))
        json_user(row->uid);
    if (target == CTL_TENANT || target == CTL_RESERVATION)
        json_text("name", row->name);
    if (target >= CTL_DEVICE)
        json_integer("device", row->device);
    if (target == CTL_DEVICE) {
        json_number("latency_sm_count", row->sm_count);
        json_text("latency_sms", mask_text(mask, row));
    }
    if (target > CTL_DEVICE) {
        json_number("sm_count", row->sm_count);
        json_text("sms", mask_text(mask, row));
    }
    if (target == CTL_TENANT) {
        json_text("state", state_name(row->state));
        json_number("exclusive", row->exclusive);
        json_text("class", class_name(row->cls));
        json_integer("priority", row->priority);
        json_number("weight", row->weight);
        json_number("inflight", row->launches_max);
        json_number("memory_limit", row_memory_limit(row));
        json_number("user_memory_limit", row->user_mem_limit);
        json_text("reservation", row->reservation);
    }
    if (target == CTL_RESERVATION)
        json_text("state", reservation_state_name(row->state));
    else
        set_json(&row->set);
    unfit_json(row);
}

void rows_members_json(const struct rows *rows)
{
    const char *provision = provision_name(rows->provision);

    json_text("provision", provision ? provision : "?");
    json_open("rows", '[');
    for (size_t i = 0; i < rows->count; i++) {
        json_open(NULL, '{');
        row_members_json(&rows->row[i]);
        json_close('}');
    }
    json_close(']');
}

static void rows_json(const struct rows *rows, const char *instance)
{
    json_open(NULL, '{');
    json_text("instance", instance);
    rows_members_json(rows);
    json_close('}');
}

int command_get(struct control *control, const struct command_options *options)
{
    char message[REQUEST_MESSAGE_MAX];
    struct rows rows = {0};
    gs_status status = options->target_given
                           ? row_read(control, options->target, options->id, &rows, message)
                           : rows_read(control, &rows, message);

    if (status == GS_OK && rows.count == 0 && options->target_given) {
        snprintf(message, sizeof(message), "there is no %s %llu: see gsctl %s",
                 target_name(options->target), (unsigned long long)options->id,
                 options->target == CTL_DEVICE ? "status" : "ps");
        status = GS_ERR_NOT_FOUND;
    }
    if (status != GS_OK) {
        free(rows.row);
        return ask_failed(status, message);
    }
    if (options->json) {
        rows_json(&rows, options->instance);
    } else {
        if (!options->target_given)
            printf("provision: %s\n",
                   provision_name(rows.provision) ? provision_name(rows.provision) : "?");
        for (size_t i = 0; i < rows.count; i++)
            row_text(&rows.row[i]);
    }
    free(rows.row);
    return 0;
}
