/* operator_check.c - the ranges of what an operator sets, and quotas that are exceeded already. */
#include <stdio.h>
#include <string.h>

#include "common/log_event.h"
#include "common/setting_text.h"
#include "common/size_text.h"
#include "server/control/operator.h"
#include "server/placer/sm_check.h"
#include "server/state/qos.h"
#include "server/state/settings_fit.h"

/* ---- SMs ------------------------------------------------------------------------------------- */

static gs_status device_check(const struct device *device, const struct ctl_settings *s,
                              char text[REFUSAL_TEXT_MAX])
{
    gs_status status = GS_OK;

    for (size_t i = 0; status == GS_OK && i < setting_field_count; i++) {
        if (s->fields & OPERATOR_SM_FIELDS & setting_fields[i].bit)
            status = settings_field_fits(device, s, setting_fields[i].bit, text);
    }
    return status;
}

static gs_status devices_check(const struct server *server, uint32_t target, uint64_t id,
                               const struct ctl_settings *s, char text[REFUSAL_TEXT_MAX])
{
    const struct session *session =
        target == CTL_TENANT ? registry_by_id(&server->registry, id) : NULL;
    gs_status status = GS_OK;

    for (int i = 0; status == GS_OK && i < server->device_count; i++) {
        const struct device *device = &server->device[i];

        if (device->sms.sm_count && (!session || session->device == device))
            status = device_check(device, s, text);
    }
    return status;
}

static gs_status latency_check(const struct server *server, uint64_t id,
                               const struct ctl_settings *s, char text[REFUSAL_TEXT_MAX])
{
    const gs_status status =
        server_device_check(server, id < INT64_MAX ? (int64_t)id : INT64_MAX, text);
    const struct placer_device *sms;

    if (status != GS_OK)
        return status;
    sms = &server->device[id].sms;
    if (s->fields & ~(uint32_t)CTL_LATENCY_SMS)
        return refusal(text, GS_ERR_INVALID_VALUE,
                       "of a device, only the latency SMs can be set: --latency-sms N");
    return sms->sm_count ? sm_check_latency(sms, s->latency_sms, text) : GS_OK;
}

static gs_status trust_check(uint32_t target, uint64_t id, char text[REFUSAL_TEXT_MAX])
{
    if (target != CTL_USER || id == CTL_OTHERS)
        return refusal(text, GS_ERR_INVALID_VALUE, "trust is set for one user: --user NAME");
    return GS_OK;
}

/* ---- All fields ------------------------------------------------------------------------------ */

/* Returns the highest priority of any device. */
static int priority_most(const struct server *server)
{
    int most = 0;

    for (int i = 0; i < server->device_count; i++) {
        int here = qos_priority_most(&server->device[i]);

        most = here > most ? here : most;
    }
    return most;
}

static gs_status fields_check(const struct server *server, uint32_t target,
                              const struct ctl_settings *s, char text[REFUSAL_TEXT_MAX])
{
    if (s->fields & ~(uint32_t)CTL_FIELDS)
        return refusal(text, GS_ERR_INVALID_VALUE, "fields %#x: there are %#x", s->fields,
                       CTL_FIELDS);
    if (s->fields & CTL_LATENCY_SMS)
        return refusal(text, GS_ERR_INVALID_VALUE,
                       "latency SMs are set for a device: --device D --latency-sms N");
    if (s->fields & CTL_USER_FIELDS && target == CTL_TENANT)
        return refusal(text, GS_ERR_INVALID_VALUE,
                       "user-... is set for a user or the default, not for a session");
    if (s->fields & CTL_PRIORITY) {
        gs_status status = qos_check_priority(s->priority, priority_most(server), text);

        if (status != GS_OK)
            return status;
    }
    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];
        char value[SETTING_TEXT_MAX];

        if (s->fields & field->bit && !setting_possible(s, field))
            return refusal(text, GS_ERR_INVALID_VALUE, "%s %s: %s", field->name,
                           setting_print(value, s, field), field->values);
    }
    return GS_OK;
}

static gs_status merged_check(const struct ctl_settings *merged, char text[REFUSAL_TEXT_MAX])
{
    if (merged->fields & CTL_EXCLUSIVE && merged->exclusive == 1 &&
        !(merged->fields & (CTL_PERCENTAGE | CTL_SMS | CTL_MASK)))
        return refusal(text, GS_ERR_INVALID_VALUE,
                       "exclusive goes with a percentage, a number or a mask of SMs");
    return GS_OK;
}

gs_status settings_check(const struct server *server, const struct ctl_set *request,
                         const struct ctl_settings *merged, char text[REFUSAL_TEXT_MAX])
{
    const struct ctl_settings *asked = &request->settings;
    const uint32_t target = request->target;
    const uint64_t id = request->id;
    gs_status status;

    if (target == CTL_DEVICE)
        return latency_check(server, id, asked, text);
    if (target == CTL_USER && id > CTL_OTHERS)
        return refusal(text, GS_ERR_INVALID_VALUE, "uid %llu: 0 to %u", (unsigned long long)id,
                       UINT32_MAX - 1);
    if (target == CTL_TENANT && !registry_by_id(&server->registry, id))
        return refusal(text, GS_ERR_NOT_FOUND, "there is no session %llu: see gsctl ps",
                       (unsigned long long)id);
    if (target != CTL_DEFAULT && target != CTL_USER && target != CTL_TENANT)
        return refusal(text, GS_ERR_INVALID_VALUE, "target %u cannot be set", target);
    status = fields_check(server, target, asked, text);
    if (status == GS_OK && asked->fields & CTL_TRUST)
        status = trust_check(target, id, text);
    if (status == GS_OK)
        status = merged_check(merged, text);
    return status == GS_OK ? devices_check(server, target, id, asked, text) : status;
}

/* ---- Quotas ---------------------------------------------------------------------------------- */

static uint64_t session_used(const struct session *s)
{
    const struct link_stats *stats = s->device->stats;

    if (!stats || !session_has_memory(s))
        return 0;
    return atomic_load_explicit(&stats[s->slot].memory_used, memory_order_relaxed);
}

/* The memory that the session's user holds on the session's device. */
static uint64_t user_used(const struct session *of)
{
    uint64_t used = 0;

    for (const struct session *s = NULL; (s = device_session_next(of->device, s));) {
        if (s->uid == of->uid)
            used += session_used(s);
    }
    return used;
}

static const char stays[] = "that stays, new allocations are refused";

void quotas_note(const struct server *server, char note[OPERATOR_NOTE_MAX])
{
    uid_t summed = (uid_t)-1; /* one user's sessions mostly come together */
    uint64_t sum = 0;

    note[0] = 0;
    for (const struct session *s = NULL; !*note && (s = registry_next(&server->registry, s));) {
        struct qos_effect effect;
        char ignored[REFUSAL_TEXT_MAX], size[SIZE_TEXT_MAX];
        uint64_t used = session_used(s);

        /* The plan tells what else is wrong with the session. */
        if (s->state != SESSION_OPEN || (qos_effect(s, 0, &effect, ignored), used == 0))
            continue;
        if (effect.grant.mem_limit && effect.grant.mem_limit != s->grant.target.mem_limit &&
            used > effect.grant.mem_limit)
            snprintf(note, OPERATOR_NOTE_MAX, "session %llu holds %s: %s",
                     (unsigned long long)s->id, size_exact(size, used), stays);
        if (effect.grant.user_mem_limit == 0 ||
            effect.grant.user_mem_limit == s->grant.target.user_mem_limit)
            continue;
        if (s->uid != summed) {
            summed = s->uid;
            sum = user_used(s);
        }
        if (sum > effect.grant.user_mem_limit)
            snprintf(note, OPERATOR_NOTE_MAX, "sessions of user %.20s hold %s: %s",
                     log_user_name(s->uid), size_exact(size, sum), stays);
    }
}
