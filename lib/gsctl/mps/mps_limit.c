/*
 * mps_limit.c - the limits of MPS, which are settings here: see mps.h. A limit is set for all
 * sessions (the default, or the server's pid) or for those of one client. It applies to existing
 * sessions from their next launch on, whereas MPS's applies only to new clients.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/rows.h"
#include "gsctl/ask/server.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/change/change.h"
#include "gsctl/mps/mps.h"

struct mps_limit {
    const char *setting;
    bool of_device; /* an argument names the device */
    bool echoed;    /* MPS prints a value that it has set */
    /* Reads the value into the request. Returns false if it is invalid. */
    bool (*read)(const char *text, struct ctl_set *request);
    const char *json; /* the name of its JSON member */
    /* Writes the limit in force for a session, or the default row's; for JSON as a figure. Writes
     * "" if there is no limit. */
    void (*write)(char out[SETTING_TEXT_MAX], const struct ctl_row *row, uint32_t device_sms,
                  bool json);
};

/* ---- The limits ------------------------------------------------------------------------------ */

static bool percentage_read(const char *text, struct ctl_set *request)
{
    const struct setting_field *field = setting_find("percentage");

    return setting_parse(&request->settings, field, text) &&
           setting_possible(&request->settings, field);
}

static void percentage_write(char out[SETTING_TEXT_MAX], const struct ctl_row *row,
                             uint32_t device_sms, bool json)
{
    double value = 100;

    (void)json;
    if (row_target(row) == CTL_TENANT && device_sms)
        value = 100.0 * row->sm_count / device_sms;
    else if (row->set.fields & CTL_PERCENTAGE)
        value = row->set.hundredths / 100.0;
    snprintf(out, SETTING_TEXT_MAX, "%.1f", value);
}

/* Reads "10G", "900M", or "512MB", the form of MPS's variable. */
static bool memory_read(const char *text, struct ctl_set *request)
{
    const struct setting_field *field = setting_find("mem");
    char size[32];
    size_t length = strlen(text);

    if (length >= sizeof(size))
        return false;
    memcpy(size, text, length + 1);
    if (length > 2 && size[length - 1] == 'B' && strchr("KMGT", size[length - 2]))
        size[length - 1] = 0;
    return setting_parse(&request->settings, field, size) &&
           setting_possible(&request->settings, field);
}

static void memory_write(char out[SETTING_TEXT_MAX], const struct ctl_row *row, uint32_t device_sms,
                         bool json)
{
    struct ctl_settings set = row->set;

    (void)device_sms;
    if (row_target(row) == CTL_TENANT) {
        set.mem = row_memory_limit(row);
        set.fields = set.mem ? CTL_MEM : 0;
    }
    out[0] = 0;
    if (set.fields & CTL_MEM && json)
        snprintf(out, SETTING_TEXT_MAX, "%" PRIu64, set.mem);
    else if (set.fields & CTL_MEM)
        setting_print(out, &set, setting_find("mem"));
}

static bool priority_read(const char *text, struct ctl_set *request)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return false;
    request->settings.cls = *text == '0' ? GS_CLASS_NORMAL : GS_CLASS_BEST_EFFORT;
    request->settings.fields = CTL_CLASS;
    return true;
}

static bool best_effort(const struct ctl_row *row)
{
    return row->set.fields & CTL_CLASS && row->set.cls == GS_CLASS_BEST_EFFORT;
}

static void priority_write(char out[SETTING_TEXT_MAX], const struct ctl_row *row,
                           uint32_t device_sms, bool json)
{
    (void)device_sms, (void)json;
    strcpy(out, best_effort(row) ? "1" : "0");
}

const struct mps_limit
    mps_percentage = {"percentage",    false, true, percentage_read, "active_thread_percentage",
                      percentage_write},
    mps_memory = {"mem", true, false, memory_read, "device_pinned_mem_limit", memory_write},
    mps_priority = {"class", false, false, priority_read, "client_priority", priority_write};

/* ---- Whose ----------------------------------------------------------------------------------- */

/* The target of a limit: the default, or one client's sessions. */
struct whose {
    struct ctl_status_reply status;
    struct ctl_tenant *sessions; /* the caller frees it, also on failure */
    size_t count;                /* 0: the default's */
    uint32_t device;
    const char *value; /* the last argument of set; NULL: get */
};

/* Keeps only the sessions of that client. A client that was terminated does not count. */
static void sessions_keep(struct whose *whose, size_t count, int32_t pid, bool of_device)
{
    for (size_t i = 0; i < count; i++) {
        const struct ctl_tenant *t = &whose->sessions[i];

        if (t->pid == pid && t->state != CTL_TENANT_LOST &&
            (!of_device || t->device == (int32_t)whose->device))
            whose->sessions[whose->count++] = *t;
    }
}

static int client_find(const struct mps_call *call, const char *text, struct whose *whose)
{
    char message[REQUEST_MESSAGE_MAX];
    uint64_t pid;
    size_t count;
    gs_status status;

    if (!mps_number(call, text, INT32_MAX, &pid))
        return EXIT_USAGE;
    status = status_read(call->control, &whose->status, message);
    if (status == GS_OK && (int32_t)pid == whose->status.server_pid)
        return 0;
    if (status == GS_OK)
        status = tenants_read(call->control, &whose->sessions, &count, NULL, message);
    if (status != GS_OK)
        return ask_failed(status, message);
    sessions_keep(whose, pid ? count : 0, (int32_t)pid, call->command->limit->of_device);
    if (whose->count)
        return 0;
    return mps_wrong(call, EXIT_ERROR, "no server and no client has the pid %s%s", text,
                     call->command->limit->of_device ? " on that device" : "");
}

/* Reads the arguments: [PID] [DEVICE] [VALUE]. */
static int whose_read(const struct mps_call *call, bool pid, bool value, struct whose *whose)
{
    const struct mps_limit *limit = call->command->limit;
    int at = pid, result = 0;

    *whose = (struct whose){.value = value ? call->argument[call->count - 1] : NULL};
    if (limit->of_device)
        result = mps_device(call, call->argument[at], &whose->device, &whose->status);
    if (result == 0 && pid)
        result = client_find(call, call->argument[0], whose);
    /* A session is on one device, so its own limit is on that device. */
    if (result == 0 && value && limit->of_device && whose->count == 0 &&
        whose->status.device_count > 1)
        return mps_wrong(call, EXIT_ERROR,
                         "the default's limit is of a session's memory on whichever of the %" PRIu32
                         " devices it is: gsctl set --default --mem %s",
                         whose->status.device_count, whose->value);
    return result;
}

/* ---- Setting and getting --------------------------------------------------------------------- */

/* Prints the limit; like MPS, prints no line if there is none. */
static void limit_print(const struct mps_call *call, const struct ctl_row *row, uint32_t device_sms)
{
    const struct mps_limit *limit = call->command->limit;
    char text[SETTING_TEXT_MAX];

    limit->write(text, row, device_sms, call->json);
    if (call->json) {
        json_open(NULL, '{');
        json_figure(limit->json, *text ? text : "null");
        json_close('}');
    } else if (*text) {
        puts(text);
    }
}

static int row_print(const struct mps_call *call, const struct whose *whose, enum ctl_target target,
                     uint64_t id)
{
    char message[REQUEST_MESSAGE_MAX];
    uint32_t sms = 0;
    struct rows rows;
    gs_status status = row_read(call->control, target, id, &rows, message);

    if (status == GS_OK && rows.count == 0) {
        snprintf(message, sizeof(message), "session %" PRIu64 " has gone", id);
        status = GS_ERR_NOT_FOUND;
    }
    if (status == GS_OK && target == CTL_TENANT &&
        (uint32_t)rows.row[0].device < whose->status.device_count)
        sms = whose->status.device[rows.row[0].device].sm_count;
    if (status == GS_OK)
        limit_print(call, &rows.row[0], sms);
    free(rows.row);
    return status == GS_OK ? 0 : ask_failed(status, message);
}

#define REMARKS_MAX 1024

/* Adds another session's remark, unless it has been added already. */
static void remark_add(char remarks[REMARKS_MAX], const char *remark)
{
    const size_t length = strlen(remarks);

    if (*remark && !strstr(remarks, remark))
        snprintf(remarks + length, REMARKS_MAX - length, "%s%s", length ? "; " : "", remark);
}

/* Sets *lowers to whether the default lowers sessions to the class best-effort. */
static gs_status default_lowers(struct control *control, bool *lowers,
                                char message[REQUEST_MESSAGE_MAX])
{
    struct rows rows;
    gs_status status = row_read(control, CTL_DEFAULT, 0, &rows, message);

    *lowers = status == GS_OK && rows.count && best_effort(&rows.row[0]);
    free(rows.row);
    return status;
}

/* Sets MPS's priority 0, with which a daemon begins and which lowers no client. The class is unset.
 * It is set to normal, which bars sessions from the class latency, only if the daemon's variable or
 * the policy file would lower them otherwise. */
static gs_status priority_restore(struct control *control, struct ctl_set *normal,
                                  char remark[REQUEST_MESSAGE_MAX])
{
    struct ctl_set unset = {.target = CTL_DEFAULT, .unset = CTL_CLASS};
    char message[REQUEST_MESSAGE_MAX];
    bool lowers;
    gs_status status = default_lowers(control, &lowers, remark);

    if (status == GS_OK && !lowers) {
        snprintf(remark, REQUEST_MESSAGE_MAX, "%s", set_already);
        return GS_OK;
    }
    if (status == GS_OK)
        status = settings_make(control, &unset, remark);
    if (status != GS_OK)
        return status;
    status = default_lowers(control, &lowers, message);
    if (status != GS_OK)
        snprintf(remark, REQUEST_MESSAGE_MAX, "%s", message);
    return status == GS_OK && lowers ? settings_make(control, normal, remark) : status;
}

/* Sets a limit for all sessions of the target, and prints one remark, or one document, for all of
 * them. */
static int value_set(const struct mps_call *call, const struct whose *whose)
{
    const struct mps_limit *limit = call->command->limit;
    struct ctl_set request = {.target = CTL_DEFAULT};
    char remarks[REMARKS_MAX] = "", remark[REQUEST_MESSAGE_MAX];
    gs_status status = GS_OK;

    if (!limit->read(whose->value, &request))
        return mps_wrong(call, EXIT_USAGE, "'%s': %s", whose->value,
                         limit == &mps_priority ? "0 or 1" : setting_find(limit->setting)->values);
    if (whose->count == 0) {
        status = limit == &mps_priority && request.settings.cls == GS_CLASS_NORMAL
                     ? priority_restore(call->control, &request, remark)
                     : settings_make(call->control, &request, remark);
        remark_add(remarks, remark);
    }
    for (size_t i = 0; i < whose->count && status == GS_OK; i++) {
        request.target = CTL_TENANT;
        request.id = whose->sessions[i].session_id;
        status = settings_make(call->control, &request, remark);
        remark_add(remarks, remark);
    }
    if (status != GS_OK)
        return ask_failed(status, remark);
    change_remark(remarks, call->json);
    if (limit->echoed && !call->json)
        printf("%.1f\n", request.settings.hundredths / 100.0);
    return 0;
}

static int limit_do(const struct mps_call *call, bool pid, bool value)
{
    struct whose whose;
    int result = whose_read(call, pid, value, &whose);

    if (result == 0 && value)
        result = value_set(call, &whose);
    else if (result == 0 && whose.count == 0)
        result = row_print(call, &whose, CTL_DEFAULT, 0);
    else if (result == 0)
        result = row_print(call, &whose, CTL_TENANT, whose.sessions[0].session_id);
    free(whose.sessions);
    return result;
}

int mps_default_set(const struct mps_call *call)
{
    return limit_do(call, false, true);
}

int mps_default_get(const struct mps_call *call)
{
    return limit_do(call, false, false);
}

int mps_limit_set(const struct mps_call *call)
{
    return limit_do(call, true, true);
}

int mps_limit_get(const struct mps_call *call)
{
    return limit_do(call, true, false);
}
