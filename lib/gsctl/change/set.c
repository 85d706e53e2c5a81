/* set.c - the commands that change a server: set, trust, reserve, release, provision, drain. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/rows.h"
#include "gsctl/ask/server.h"
#include "gsctl/base/json.h"
#include "gsctl/base/options.h"
#include "gsctl/change/change.h"
#include "gsctl/show/show.h"

const char set_already[] = "nothing has changed: this is set already";

void change_remark(const char *remark, bool json)
{
    if (json) {
        json_open(NULL, '{');
        json_text("remark", remark);
        json_close('}');
    } else if (*remark) {
        fprintf(stderr, "gsctl: %s\n", remark);
    }
}

/* Asks for a change as change_ask. `remark` receives the server's remark on the change. */
static gs_status change_make(struct control *control, struct ctl_header *request, uint16_t op,
                             size_t size, char remark[REQUEST_MESSAGE_MAX])
{
    struct ctl_done_reply reply;
    gs_status status =
        control_ask(control, request, op, size, &reply, sizeof(reply), ask_deadline(), remark);

    if (status == GS_OK) {
        reply.message[sizeof(reply.message) - 1] = 0;
        snprintf(remark, REQUEST_MESSAGE_MAX, "%s", reply.message);
    }
    return status;
}

int change_ask(struct control *control, struct ctl_header *request, uint16_t op, size_t size,
               bool json)
{
    char remark[REQUEST_MESSAGE_MAX];
    gs_status status = change_make(control, request, op, size, remark);

    if (status != GS_OK)
        return ask_failed(status, remark);
    change_remark(remark, json);
    return 0;
}

/* Reads the row of a change's target; a zero row if there is none. */
static gs_status row_of(struct control *control, const struct ctl_set *request, struct ctl_row *row,
                        char message[REQUEST_MESSAGE_MAX])
{
    struct rows rows;
    gs_status status = row_read(control, request->target, request->id, &rows, message);

    *row = (struct ctl_row){0};
    if (status == GS_OK && rows.count)
        *row = rows.row[0];
    free(rows.row);
    return status;
}

/* The fields whose effect has_the_same compares. */
#define COMPARED                                                                                   \
    (CTL_PERCENTAGE | CTL_SMS | CTL_MASK | CTL_EXCLUSIVE | CTL_PRIORITY | CTL_CLASS | CTL_WEIGHT | \
     CTL_MEM | CTL_LAUNCHES_MAX)

static bool has_the_same(const struct ctl_row *a, const struct ctl_row *b)
{
    return a->cls == b->cls && a->priority == b->priority && a->weight == b->weight &&
           a->launches_max == b->launches_max && a->mem_limit == b->mem_limit &&
           a->exclusive == b->exclusive && !memcmp(a->sm_mask, b->sm_mask, sizeof(a->sm_mask));
}

/* Returns the row of that session; NULL: there is none. */
static const struct ctl_row *session_row(const struct rows *rows, uint64_t key)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i].key == key)
            return &rows->row[i];
    }
    return NULL;
}

/* Writes a remark if a setting for all, or for a user, has changed no session, because each asks
 * for less, by its program or environment. */
static void sessions_remark(const struct ctl_set *request, const struct rows *before,
                            const struct rows *after, char remark[REQUEST_MESSAGE_MAX])
{
    size_t same = 0, changed = 0;

    for (size_t i = 0; i < after->count; i++) {
        const struct ctl_row *row = &after->row[i], *was;

        if (row_target(row) != CTL_TENANT ||
            (request->target == CTL_USER && row->uid != (uint32_t)request->id))
            continue;
        was = session_row(before, row->key);
        same += was && has_the_same(was, row);
        changed += was && !has_the_same(was, row);
    }
    if (same && !changed)
        snprintf(remark, REQUEST_MESSAGE_MAX,
                 "set, but nothing changes for %s: requests, environments or other limits are "
                 "tighter; see gsctl explain SESSION",
                 same == 1 ? "the one session" : "any session");
}

/* Writes the same remark for a setting for one session. */
static void session_remark(const struct ctl_row *before, const struct ctl_row *after,
                           char remark[REQUEST_MESSAGE_MAX])
{
    if (has_the_same(before, after))
        snprintf(remark, REQUEST_MESSAGE_MAX,
                 "set, but nothing changes for session %llu: its own request or another limit is "
                 "tighter; see gsctl explain %llu",
                 row_id(after), row_id(after));
}

gs_status settings_make(struct control *control, struct ctl_set *request,
                        char remark[REQUEST_MESSAGE_MAX])
{
    const bool of_several =
        (request->target == CTL_DEFAULT || request->target == CTL_USER) && !request->unset;
    const bool comparable = !((request->unset | request->settings.fields) & ~COMPARED);
    struct ctl_row before, after;
    struct rows rows_before = {0}, rows_after = {0};
    char message[REQUEST_MESSAGE_MAX];
    gs_status status = row_of(control, request, &before, remark);

    if (status == GS_OK && of_several && comparable)
        status = rows_read(control, &rows_before, remark);
    if (status == GS_OK)
        status = change_make(control, &request->h, CTL_SET, sizeof(*request), remark);
    if (status != GS_OK) {
        free(rows_before.row);
        return status;
    }
    /* The change is made even if the server does not answer this request about its effect. */
    if (!*remark && row_of(control, request, &after, message) == GS_OK) {
        if (!memcmp(&before.set, &after.set, sizeof(before.set)))
            snprintf(remark, REQUEST_MESSAGE_MAX, "%s",
                     request->settings.fields ? set_already
                                              : "nothing has changed: this is not set");
        else if (of_several && comparable && rows_read(control, &rows_after, message) == GS_OK)
            sessions_remark(request, &rows_before, &rows_after, remark);
        else if (request->target == CTL_TENANT && comparable)
            session_remark(&before, &after, remark);
    }
    free(rows_before.row);
    free(rows_after.row);
    return GS_OK;
}

/* Asks for other settings, prints the remark, and returns the exit status. */
static int settings_change(struct control *control, struct ctl_set *request, bool json)
{
    char remark[REQUEST_MESSAGE_MAX];
    gs_status status = settings_make(control, request, remark);

    if (status != GS_OK)
        return ask_failed(status, remark);
    change_remark(remark, json);
    return 0;
}

int set_check(const struct command_options *options)
{
    if (!options->target_given)
        usage("set: a session's id, --user NAME, --others, --default or --device D is missing");
    if (options->set.fields == 0 && options->unset == 0)
        usage("set: no setting is given");
    return 0;
}

int command_set(struct control *control, const struct command_options *options)
{
    struct ctl_set request = {.target = options->target,
                              .unset = options->unset,
                              .id = options->id,
                              .settings = options->set};

    return settings_change(control, &request, options->json);
}

static uid_t trusted_user(const struct command_options *options)
{
    uid_t uid;

    if (!user_parse(options->operand, &uid))
        usage("'%s': there is no user of that name", options->operand);
    return uid;
}

int trust_check(const struct command_options *options)
{
    trusted_user(options);
    return 0;
}

/* Runs `trust`, the short form of set --user USER --trust. */
int command_trust(struct control *control, const struct command_options *options)
{
    struct ctl_set request = {.target = CTL_USER,
                              .id = trusted_user(options),
                              .settings = {.fields = CTL_TRUST, .trust = !options->no}};

    return settings_change(control, &request, options->json);
}

int reservation_check(const struct command_options *options)
{
    if (strlen(options->operand) >= sizeof(((struct ctl_reserve *)NULL)->name))
        usage("%s: a name of more than 31 characters", options->operand);
    return 0;
}

int reserve_check(const struct command_options *options)
{
    if (options->set.fields != CTL_SMS && options->set.fields != CTL_MASK)
        usage("reserve: either --sms or --mask");
    if (options->set.fields == CTL_SMS && options->set.sms == 0)
        usage("--sms 0: 1 and up");
    return reservation_check(options);
}

/* Prints the new reservation and its SMs in the form of `get`. The reservation is made even if this
 * cannot be read. */
static void reservation_json(struct control *control, const char *name, const char *remark)
{
    char message[REQUEST_MESSAGE_MAX];
    struct rows rows;

    json_open(NULL, '{');
    rows_read(control, &rows, message);
    for (size_t i = 0; i < rows.count; i++) {
        if (row_target(&rows.row[i]) == CTL_RESERVATION && !strcmp(rows.row[i].name, name))
            row_members_json(&rows.row[i]);
    }
    free(rows.row);
    json_text("remark", remark);
    json_close('}');
}

int command_reserve(struct control *control, const struct command_options *options)
{
    struct ctl_reserve request = {.device = options->device >= 0 ? options->device : 0,
                                  .sms = options->set.sms};
    char remark[REQUEST_MESSAGE_MAX];
    gs_status status;

    memcpy(request.name, options->operand, strlen(options->operand) + 1);
    memcpy(request.sm_mask, options->set.sm_mask, sizeof(request.sm_mask));
    status = change_make(control, &request.h, CTL_RESERVE, sizeof(request), remark);
    if (status != GS_OK)
        return ask_failed(status, remark);
    if (!options->json)
        change_remark(remark, false);
    else
        reservation_json(control, request.name, remark);
    return 0;
}

int command_release(struct control *control, const struct command_options *options)
{
    struct ctl_reserve request = {.device = 0};

    memcpy(request.name, options->operand, strlen(options->operand) + 1);
    return change_ask(control, &request.h, CTL_RELEASE, sizeof(request), options->json);
}

int provision_check(const struct command_options *options)
{
    if (provision_find(options->operand) == CTL_PROVISION_MODES)
        usage("provision %s: uniform, half, weighted or exact", options->operand);
    return 0;
}

int command_provision(struct control *control, const struct command_options *options)
{
    struct ctl_provision request = {.mode = provision_find(options->operand)};
    char remark[REQUEST_MESSAGE_MAX];
    struct rows before;
    gs_status status = rows_read(control, &before, remark);

    free(before.row);
    if (status == GS_OK)
        status = change_make(control, &request.h, CTL_PROVISION, sizeof(request), remark);
    if (status != GS_OK)
        return ask_failed(status, remark);
    if (!*remark && before.provision == request.mode)
        snprintf(remark, sizeof(remark), "%s", set_already);
    change_remark(remark, options->json);
    return 0;
}

/* ---- Drain ----------------------------------------------------------------------------------- */

/* Numbers of devices that are not drained ([0]) and drained ([1]), and of the tenants on drained
 * ones. */
struct drained {
    uint32_t devices[2], tenants;
};

static struct drained drained_count(const struct ctl_status_reply *r, int32_t device)
{
    struct drained count = {{0}, 0};

    for (uint32_t i = 0; i < r->device_count; i++) {
        if (device >= 0 && i != (uint32_t)device)
            continue;
        count.devices[r->device[i].drained != 0]++;
        count.tenants += r->device[i].tenants;
    }
    return count;
}

static void drain_print(const struct ctl_drain *request, const struct drained *before, bool json)
{
    const uint32_t tenants = before->tenants;
    const bool same = before->devices[!request->on] == 0;

    if (json) {
        json_open(NULL, '{');
        json_number("drained", request->on);
        json_number("tenants", tenants);
        json_text("remark", same ? "nothing has changed" : "");
        json_close('}');
        return;
    }
    if (same)
        fputs("gsctl: nothing has changed: it was so already\n", stderr);
    else if (!request->on)
        puts("new tenants are admitted again");
    else if (tenants)
        printf("no new tenants; %u %s still there; 'gsctl drain --no' "
               "admits new ones again\n",
               tenants, tenants == 1 ? "is" : "are");
    else
        puts("no new tenants, and none is there; 'gsctl drain --no' admits them again");
}

int command_drain(struct control *control, const struct command_options *options)
{
    struct ctl_drain request = {.device = options->device, .on = !options->no};
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply now;
    gs_status status = status_read(control, &now, message);
    struct drained before;

    if (status != GS_OK)
        return ask_failed(status, message);
    before = drained_count(&now, options->device);
    status = change_make(control, &request.h, CTL_DRAIN, sizeof(request), message);
    if (status != GS_OK)
        return ask_failed(status, message);
    drain_print(&request, &before, options->json);
    return 0;
}
