/* operator.c - see operator.h. */
#include "server/control/operator.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/setting_text.h"
#include "common/util.h"
#include "server/placer/sm_check.h"
#include "server/state/qos.h"

/* gsctl waits five seconds for an answer. */
#define OPERATOR_PATIENCE_NS 3000000000u

static bool operator_allowed(const struct reply *reply)
{
    if (reply->uid == 0 || reply->uid == geteuid())
        return true;
    reply_refuse(reply, GS_ERR_PERMISSION, "uid %u may not change the server of uid %u",
                 (unsigned)reply->uid, (unsigned)geteuid());
    return false;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* A session that keeps its former grant for now, or NULL. */
static const struct session *device_refused(const struct device *device)
{
    for (const struct session *t = NULL; (t = registry_next(&device->server->registry, t));) {
        if (t->device == device && t->state == SESSION_OPEN && t->grant.refused)
            return t;
    }
    return NULL;
}

/* Answers all: they wait for the same. */
static void operators_answer(struct server *server, const char *text)
{
    struct ctl_done_reply answer = {.status = GS_OK};

    snprintf(answer.message, sizeof(answer.message), "%s", text);
    for (uint32_t i = 0; i < server->operator.count; i++) {
        reply_send(&server->operator.reply[i], &answer.h, sizeof(answer));
        reply_close(&server->operator.reply[i]);
    }
    server->operator.count = 0;
    timer_cancel(&server->loop, &server->operator.patience);
}

static void patience_fire(struct timer *timer)
{
    struct server *server = container_of(timer, struct server, operator.patience);
    char text[REFUSAL_TEXT_MAX];
    uint32_t waiting = 0;

    for (int i = 0; i < server->device_count; i++)
        waiting += grants_open_count(&server->device[i]);
    if (waiting)
        snprintf(text, sizeof(text), "done, but for %u session%s for running kernels to end",
                 waiting, waiting == 1 ? " that waits" : "s that wait");
    else
        snprintf(text, sizeof(text), "done, but not saved yet");
    operators_answer(server, text);
}

void operator_settle(struct server *server)
{
    char text[REFUSAL_TEXT_MAX] = "";

    if (server->operator.count == 0)
        return;
    for (int i = 0; i < server->device_count; i++) {
        const struct device *device = &server->device[i];
        const struct session *refused = device_refused(device);

        if (refused)
            snprintf(text, sizeof(text), "done, but session %llu keeps its former grant: %.60s",
                     (unsigned long long)refused->id, refused->grant.refusal);
        else if (grants_open_count(device) || device->place_soon.due_ns)
            return; /* what has just been given up goes to others yet */
    }
    if (!state_writer_idle(&server->state))
        return;
    if (state_writer_failure(&server->state))
        snprintf(text, sizeof(text), "done, but not saved: %.90s",
                 state_writer_failure(&server->state));
    operators_answer(server, text);
}

void operator_deinit(struct server *server)
{
    for (uint32_t i = 0; i < server->operator.count; i++)
        reply_close(&server->operator.reply[i]);
    server->operator.count = 0;
    timer_cancel(&server->loop, &server->operator.patience);
}

/* ---- Applying -------------------------------------------------------------------------------- */

/* Places all anew. On failure those that were placed are as they will be when what was changed has
 * been changed back and this is called again. */
static gs_status devices_place(struct server *server, struct session *asker,
                               char text[REFUSAL_TEXT_MAX])
{
    gs_status status = GS_OK;

    for (int i = 0; status == GS_OK && i < server->device_count; i++) {
        struct device *device = &server->device[i];

        if (device->worker.state == WORKER_READY)
            status = grants_place(device, asker && asker->device == device ? asker : NULL, text);
    }
    return status;
}

/* The change holds: it is sent and saved, and the operator answered when that is done. */
static void change_send(struct server *server, struct reply *reply)
{
    state_writer_write(&server->state, &server->settings);
    for (int i = 0; i < server->device_count; i++) {
        policy_update(&server->device[i]);
        if (server->device[i].worker.state == WORKER_READY)
            grants_pump(&server->device[i]);
    }
    if (server->operator.count == OPERATORS_MAX) {
        struct ctl_done_reply answer = {.status = GS_OK, .message = "done; not waited for"};
        reply_send(reply, &answer.h, sizeof(answer));
    } else {
        server->operator.reply[server->operator.count++] = * reply;
        reply->queue = -1;
        /* From the first one's request on: a second must not use up the first one's time. */
        if (server->operator.patience.due_ns == 0)
            timer_set(&server->loop, &server->operator.patience, clock_ns() + OPERATOR_PATIENCE_NS,
                      patience_fire);
    }
    for (int i = 0; i < server->device_count; i++)
        qos_requests_settle(&server->device[i]);
}

/* ---- Set ------------------------------------------------------------------------------------- */

/* What is set for a target that has been checked. */
static struct ctl_settings settings_get(const struct server *server, uint32_t target, uint64_t id)
{
    const struct ctl_settings *user;
    struct session *session;

    switch (target) {
    case CTL_USER:
        user = settings_find_user(&server->settings, (uid_t)id);
        return user ? *user : (struct ctl_settings){0};
    case CTL_DEVICE:
        return id < SETTINGS_DEVICES_MAX ? server->settings.device[id] : (struct ctl_settings){0};
    case CTL_TENANT:
        session = registry_by_id(&server->registry, id);
        return session ? session->set : (struct ctl_settings){0};
    default:
        return server->settings.everybody;
    }
}

static bool settings_put(struct server *server, uint32_t target, uint64_t id,
                         const struct ctl_settings *settings)
{
    switch (target) {
    case CTL_USER:
        return settings_put_user(&server->settings, (uid_t)id, settings);
    case CTL_DEVICE:
        server->settings.device[id] = *settings;
        return true;
    case CTL_TENANT:
        registry_by_id(&server->registry, id)->set = *settings;
        return true;
    default:
        server->settings.everybody = *settings;
        return true;
    }
}

void operator_set(struct server *server, const struct ctl_set *request, struct reply *reply)
{
    struct ctl_settings old = settings_get(server, request->target, request->id), merged;
    struct session *session =
        request->target == CTL_TENANT ? registry_by_id(&server->registry, request->id) : NULL;
    bool asks = (request->unset | request->settings.fields) & OPERATOR_SM_FIELDS; /* for SMs */
    char text[REFUSAL_TEXT_MAX];
    gs_status status;

    if (!operator_allowed(reply))
        return;
    merged = settings_merge(&old, request->unset, &request->settings);
    status = settings_check(server, request, &merged, text);
    if (status == GS_OK && session && session->state != SESSION_OPEN) {
        snprintf(text, sizeof(text), "session %llu %s", (unsigned long long)request->id,
                 server_session_state_told(session) == CTL_TENANT_ATTACHING ? "is still attaching"
                 : server_session_state_told(session) == CTL_TENANT_ENDING  ? "is ending"
                                                                           : "has lost its device");
        status = GS_ERR_NOT_FOUND;
    }
    if (status == GS_OK && !settings_put(server, request->target, request->id, &merged)) {
        snprintf(text, sizeof(text), "settings of %u users: there is room for no more",
                 SETTINGS_USERS_MAX);
        status = GS_ERR_LIMIT;
    } else if (status == GS_OK) {
        status = quotas_check(server, text);
        if (status == GS_OK)
            status = devices_place(server, asks ? session : NULL, text);
        if (status != GS_OK) {
            char ignored[REFUSAL_TEXT_MAX];
            settings_put(server, request->target, request->id, &old);
            devices_place(server, NULL, ignored);
        }
    }
    if (status != GS_OK) {
        reply_refuse(reply, status, "%s", text);
        return;
    }
    if (request->target == CTL_DEFAULT)
        log_info("uid %u has changed the settings for everybody", (unsigned)reply->uid);
    else
        log_info("uid %u has changed the settings of %s %llu", (unsigned)reply->uid,
                 target_name(request->target), (unsigned long long)request->id);
    change_send(server, reply);
}

/* ---- Reservations ---------------------------------------------------------------------------- */

static gs_status reserve_check(const struct server *server, const struct ctl_reserve *request,
                               uint32_t *at, char text[REFUSAL_TEXT_MAX])
{
    const struct settings *settings = &server->settings;
    struct ctl_settings wanted = {.fields = request->sms ? CTL_SMS : CTL_MASK, .sms = request->sms};

    if (!reservation_name_valid(request->name)) {
        snprintf(text, REFUSAL_TEXT_MAX, "a name has 1 to 31 letters, digits, '_', '.' and '-'");
        return GS_ERR_INVALID_VALUE;
    }
    if (settings_find_reservation(settings, request->name) < SETTINGS_RESERVATIONS_MAX) {
        snprintf(text, REFUSAL_TEXT_MAX, "'%s' is reserved already: release it first",
                 request->name);
        return GS_ERR_INVALID_VALUE;
    }
    if (request->device < 0 || request->device >= server->device_count ||
        server->device[request->device].sms.sm_count == 0) {
        snprintf(text, REFUSAL_TEXT_MAX, "device %d: the server has %d, counted from 0",
                 request->device, server->device_count);
        return GS_ERR_NO_DEVICE;
    }
    for (*at = 0; *at < SETTINGS_RESERVATIONS_MAX && settings->reservation[*at].name[0];)
        ++*at;
    if (*at == SETTINGS_RESERVATIONS_MAX) {
        snprintf(text, REFUSAL_TEXT_MAX, "there are %u reservations, and can be no more",
                 SETTINGS_RESERVATIONS_MAX);
        return GS_ERR_LIMIT;
    }
    memcpy(wanted.sm_mask, request->sm_mask, sizeof(wanted.sm_mask));
    return settings_check_sms(&server->device[request->device].sms, &wanted, text);
}

void operator_reserve(struct server *server, const struct ctl_reserve *request, struct reply *reply)
{
    char text[REFUSAL_TEXT_MAX];
    struct reservation *reservation;
    struct device *device;
    gs_status status;
    uint32_t at;

    if (!operator_allowed(reply))
        return;
    status = reserve_check(server, request, &at, text);
    if (status != GS_OK) {
        reply_refuse(reply, status, "%s", text);
        return;
    }
    device = &server->device[request->device];
    reservation = &server->settings.reservation[at];
    *reservation = (struct reservation){
        .device = request->device, .sms = request->sms, .wanted = sm_mask_of(request->sm_mask)};
    memcpy(reservation->name, request->name, sizeof(reservation->name));
    status = reservation_place(device, at, text);
    if (status == GS_OK) {
        status = devices_place(server, NULL, text);
        if (status != GS_OK)
            reservation_drop(device, at);
    }
    if (status != GS_OK) {
        *reservation = (struct reservation){0};
        reply_refuse(reply, status, "%s", text);
        return;
    }
    log_info("uid %u has reserved %u SMs of device %d as '%s'", (unsigned)reply->uid,
             sm_mask_count(&device->space[at + 1]), device->index, reservation->name);
    change_send(server, reply);
}

void operator_release(struct server *server, const struct ctl_reserve *request, struct reply *reply)
{
    char name[sizeof(request->name) + 1] = "", text[REFUSAL_TEXT_MAX];
    struct reservation *reservation;
    uint32_t at, inside = 0;

    if (!operator_allowed(reply))
        return;
    memcpy(name, request->name, sizeof(request->name));
    at = settings_find_reservation(&server->settings, name);
    if (at == SETTINGS_RESERVATIONS_MAX) {
        reply_refuse(reply, GS_ERR_NOT_FOUND, "no SMs are reserved as '%s': see gsctl get",
                     reservation_name_valid(request->name) ? name : "?");
        return;
    }
    for (const struct session *t = NULL; (t = registry_next(&server->registry, t));)
        inside += t->space == at + 1 && t->state != SESSION_LOST;
    if (inside) {
        reply_refuse(reply, GS_ERR_LIMIT, "%u session%s attached to '%s'", inside,
                     inside == 1 ? " is" : "s are", name);
        return;
    }
    reservation = &server->settings.reservation[at];
    if (reservation->device < server->device_count)
        reservation_drop(&server->device[reservation->device], at);
    *reservation = (struct reservation){0};
    if (devices_place(server, NULL, text) != GS_OK)
        log_warning("after the release of '%s': %s", name, text);
    log_info("uid %u has released '%s'", (unsigned)reply->uid, name);
    change_send(server, reply);
}

/* ---- Provisioning ---------------------------------------------------------------------------- */

static gs_status provision_check(const struct server *server, uint32_t mode,
                                 char text[REFUSAL_TEXT_MAX])
{
    gs_status status = GS_OK;

    for (int i = 0; mode != CTL_PROVISION_EXACT && status == GS_OK && i < server->device_count;
         i++) {
        if (server->device[i].sms.sm_count)
            status = sm_check_partitions(&server->device[i].sms, text);
    }
    return status;
}

void operator_provision(struct server *server, const struct ctl_provision *request,
                        struct reply *reply)
{
    uint32_t old = server->settings.provision;
    char text[REFUSAL_TEXT_MAX], ignored[REFUSAL_TEXT_MAX];
    gs_status status;

    if (!operator_allowed(reply))
        return;
    if (request->mode >= CTL_PROVISION_MODES) {
        reply_refuse(reply, GS_ERR_INVALID_VALUE, "provisioning policy %u: there are 0 to %d",
                     request->mode, CTL_PROVISION_MODES - 1);
        return;
    }
    status = provision_check(server, request->mode, text);
    if (status != GS_OK) {
        reply_refuse(reply, status, "%s", text);
        return;
    }
    server->settings.provision = request->mode;
    status = devices_place(server, NULL, text);
    if (status != GS_OK) {
        server->settings.provision = old;
        devices_place(server, NULL, ignored);
        reply_refuse(reply, status, "%s", text);
        return;
    }
    log_info("uid %u has set provisioning policy %u", (unsigned)reply->uid, request->mode);
    change_send(server, reply);
}
