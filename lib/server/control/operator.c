/* operator.c - see operator.h. */
#include "server/control/operator.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/setting_text.h"
#include "server/placer/sm_check.h"
#include "server/reconcile/changes.h"
#include "server/reconcile/plan.h"
#include "server/reconcile/reservations.h"
#include "server/state/settings_fit.h"
#include "server/state/settings_log.h"

/* Keeps a change that was made: has it saved, and the operator answered when the workers have it
 * too. */
static void change_keep(struct server *server, struct reply *reply, const char *note)
{
    /* By the token a next supervisor sees that the change was made, and answers (restore.c). */
    server_commit(server, reply->token);
    changes_await(server, reply, note);
    state_writer_write(&server->state, &server->settings);
    for (int i = 0; i < server->device_count; i++)
        device_due(&server->device[i], DUE_POLICY | DUE_SEND | DUE_SETTLE);
}

static struct log_event event_by(const char *kind, const struct reply *reply)
{
    struct log_event event = log_event_begin(kind);

    reply_log(&event, reply);
    return event;
}

/* ---- Set ------------------------------------------------------------------------------------- */

/* Returns what is set for the target. */
static struct ctl_settings settings_get(const struct server *server, uint32_t target, uint64_t id)
{
    struct session *session;

    switch (target) {
    case CTL_USER:
        return settings_of_user(&server->settings, (uid_t)id);
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

/* Checks that the session is open: no other can be given settings. */
static gs_status session_check_open(const struct session *session, char text[REFUSAL_TEXT_MAX])
{
    const char *why = "has lost its device";

    if (session->state == SESSION_OPEN)
        return GS_OK;
    if (session_tenant_state(session) == CTL_TENANT_ATTACHING)
        why = "is still attaching";
    else if (session_tenant_state(session) == CTL_TENANT_ENDING)
        why = "is ending";
    return refusal(text, GS_ERR_NOT_FOUND, "session %llu %s", (unsigned long long)session->id, why);
}

/* Puts the settings in the place of `old`, unless not all sessions would fit under them. about: the
 * session that they are for, or NULL. */
static gs_status settings_try(struct server *server, const struct ctl_set *request,
                              const struct session *about, const struct ctl_settings *old,
                              const struct ctl_settings *settings, char note[OPERATOR_NOTE_MAX],
                              char text[REFUSAL_TEXT_MAX])
{
    const bool of_sms = (request->unset | request->settings.fields) & OPERATOR_SM_FIELDS;
    gs_status status;

    if (!settings_put(server, request->target, request->id, settings))
        return refusal(text, GS_ERR_LIMIT, "settings of %u users: there is room for no more",
                       SETTINGS_USERS_MAX);
    quotas_note(server, note);
    status = plan_change(server, of_sms ? about : NULL, text);
    if (status != GS_OK)
        settings_put(server, request->target, request->id, old);
    return status;
}

void operator_set(struct server *server, const struct ctl_set *request, struct reply *reply)
{
    const struct ctl_settings old = settings_get(server, request->target, request->id);
    const struct ctl_settings merged = settings_merge(&old, request->unset, &request->settings);
    const struct session *session =
        request->target == CTL_TENANT ? registry_by_id(&server->registry, request->id) : NULL;
    char text[REFUSAL_TEXT_MAX], note[OPERATOR_NOTE_MAX] = "";
    struct log_event event;
    gs_status status;

    status = settings_check(server, request, &merged, text);
    if (status == GS_OK && session)
        status = session_check_open(session, text);
    if (status == GS_OK)
        status = settings_try(server, request, session, &old, &merged, note, text);
    if (status != GS_OK) {
        reply_refuse(reply, status, "%s", text);
        return;
    }
    event = event_by("limits", reply);
    change_keep(server, reply, note);
    settings_change_log(event, request->target, request->id, &old, &merged);
}

/* ---- Reservations ---------------------------------------------------------------------------- */

static gs_status reserve_check(const struct server *server, const struct ctl_reserve *request,
                               uint32_t *at, char text[REFUSAL_TEXT_MAX])
{
    const struct settings *settings = &server->settings;
    struct ctl_settings wanted = {.fields = request->sms ? CTL_SMS : CTL_MASK, .sms = request->sms};
    gs_status status;

    if (!reservation_name_valid(request->name))
        return refusal(text, GS_ERR_INVALID_VALUE,
                       "a name has 1 to 31 letters, digits, '_', '.' and '-'");
    if (settings_find_reservation(settings, request->name) < SETTINGS_RESERVATIONS_MAX)
        return refusal(text, GS_ERR_INVALID_VALUE, "'%s' is reserved already: release it first",
                       request->name);
    status = server_device_check(server, request->device, text);
    if (status != GS_OK)
        return status;
    if (server->device[request->device].sms.sm_count == 0)
        return refusal(text, GS_ERR_NO_DEVICE, "device %d has not been ready yet", request->device);
    for (*at = 0; *at < SETTINGS_RESERVATIONS_MAX && settings->reservation[*at].name[0];)
        ++*at;
    if (*at == SETTINGS_RESERVATIONS_MAX)
        return refusal(text, GS_ERR_LIMIT, "there are %u reservations, and can be no more",
                       SETTINGS_RESERVATIONS_MAX);
    memcpy(wanted.sm_mask, request->sm_mask, sizeof(wanted.sm_mask));
    return settings_check_sms(&server->device[request->device].sms, &wanted, text);
}

/* Remarks on a reservation of all SMs, which is allowed: without a tenant it harms nobody yet. */
static void reservation_note(const struct device *device, char note[OPERATOR_NOTE_MAX])
{
    note[0] = 0;
    if (sm_mask_empty(&device->space[0]))
        snprintf(note, OPERATOR_NOTE_MAX,
                 "device %d has no SMs left for tenants without a reservation: they cannot attach",
                 device->index);
}

void operator_reserve(struct server *server, const struct ctl_reserve *request, struct reply *reply)
{
    char text[REFUSAL_TEXT_MAX], note[OPERATOR_NOTE_MAX];
    struct reservation *reservation;
    struct device *device;
    struct log_event event;
    gs_status status;
    uint32_t at = 0;

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
        status = plan_change(server, NULL, text);
        if (status != GS_OK)
            reservation_remove(device, at);
    }
    if (status != GS_OK) {
        *reservation = (struct reservation){0};
        reply_refuse(reply, status, "%s", text);
        return;
    }
    event = event_by("reserve", reply);
    log_event_text(&event, "name", reservation->name);
    log_event_number(&event, "device", (uint64_t)device->index);
    log_event_number(&event, "sms", sm_mask_count(&device->space[at + 1]));
    reservation_note(device, note);
    change_keep(server, reply, note);
    log_event_write(&event, LOG_LEVEL_INFO);
}

void operator_release(struct server *server, const struct ctl_reserve *request, struct reply *reply)
{
    char name[sizeof(request->name) + 1] = "", text[REFUSAL_TEXT_MAX];
    struct reservation *reservation;
    uint32_t at, inside = 0;
    struct log_event event;

    memcpy(name, request->name, sizeof(request->name));
    at = settings_find_reservation(&server->settings, name);
    if (at == SETTINGS_RESERVATIONS_MAX) {
        reply_refuse(reply, GS_ERR_NOT_FOUND, "no SMs are reserved as '%s': see gsctl get",
                     reservation_name_valid(request->name) ? name : "?");
        return;
    }
    for (const struct session *s = NULL; (s = registry_next(&server->registry, s));)
        inside += s->space == at + 1 && s->state != SESSION_LOST;
    if (inside) {
        reply_refuse(reply, GS_ERR_LIMIT, "%u session%s attached to '%s'", inside,
                     inside == 1 ? " is" : "s are", name);
        return;
    }
    reservation = &server->settings.reservation[at];
    if (reservation->device < server->device_count)
        reservation_remove(&server->device[reservation->device], at);
    *reservation = (struct reservation){0};
    if (plan_change(server, NULL, text) != GS_OK)
        log_warning("event=plan-failed reason=\"after the release of '%s': %s\"", name, text);
    event = event_by("release", reply);
    log_event_text(&event, "name", name);
    change_keep(server, reply, "");
    log_event_write(&event, LOG_LEVEL_INFO);
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
    char text[REFUSAL_TEXT_MAX];
    struct log_event event;
    gs_status status;

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
    status = plan_change(server, NULL, text);
    if (status != GS_OK) {
        server->settings.provision = old;
        reply_refuse(reply, status, "%s", text);
        return;
    }
    event = event_by("provision", reply);
    log_event_text(&event, "mode", provision_name(request->mode));
    log_event_text(&event, "mode_was", provision_name(old));
    change_keep(server, reply, "");
    log_event_write(&event, LOG_LEVEL_INFO);
}

/* ---- Draining -------------------------------------------------------------------------------- */

/* A drain lasts until it is taken back or the server ends: a server that starts serves all its
 * devices. */
void operator_drain(struct server *server, const struct ctl_drain *request, struct reply *reply)
{
    const uint32_t all = (1u << server->device_count) - 1;
    const bool one = request->device >= 0;
    char text[REFUSAL_TEXT_MAX];
    gs_status status = GS_OK;
    struct log_event event;

    if (request->device != -1)
        status = server_device_check(server, request->device, text);
    if (status == GS_OK && request->on > 1)
        status = refusal(text, GS_ERR_INVALID_VALUE, "on %u: 1 to drain, 0 to take it back",
                         request->on);
    if (status == GS_OK && server->end_wanted)
        status = refusal(text, GS_ERR_REFUSED,
                         "the server is ending and admits nobody: that cannot be taken back");
    if (status != GS_OK) {
        reply_refuse(reply, status, "%s", text);
        return;
    }
    if (request->on)
        server->settings.drained |= one ? 1u << request->device : all;
    else
        server->settings.drained &= one ? ~(1u << request->device) : 0;
    event = event_by("drain", reply);
    if (one)
        log_event_number(&event, "device", (uint64_t)request->device);
    else
        log_event_text(&event, "device", "all");
    log_event_text(&event, "drained", request->on ? "yes" : "no");
    change_keep(server, reply, "");
    log_event_write(&event, LOG_LEVEL_INFO);
}
