/* qos.c - see qos.h. */
#include "server/state/qos.h"

#include "common/qos_class.h"
#include "common/setting_text.h"
#include "common/sm_groups.h"
#include "server/placer/sm_check.h"
#include "server/state/server.h"

/* ---- QoS requests ---------------------------------------------------------------------------- */

static gs_status affinity_check(const struct wire_qos *qos, const struct placer_device *sms,
                                char text[REFUSAL_TEXT_MAX])
{
    gs_status status = sm_check_partitions(sms, text);

    if (status != GS_OK)
        return status;
    switch (qos->affinity_type) {
    case GS_EXEC_AFFINITY_SM_COUNT:
        return sm_check_count(sms, qos->sm_count, text);
    case GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE:
        return sm_check_percentage(qos->percentage, text);
    default:
        return sm_check_mask(sms, qos->sm_mask, text);
    }
}

int qos_priority_most(const struct device *device)
{
    return device->info.priority_lowest - device->info.priority_highest;
}

gs_status qos_check_priority(int32_t priority, int most, char text[REFUSAL_TEXT_MAX])
{
    if (priority >= 0 && priority <= most)
        return GS_OK;
    return refusal(text, GS_ERR_INVALID_VALUE, "priority %d: 0 to %d, higher is earlier", priority,
                   most);
}

gs_status qos_check(const struct wire_qos *qos, const struct device *device,
                    char text[REFUSAL_TEXT_MAX])
{
    if (qos->cls >= CLASSES)
        return refusal(text, GS_ERR_INVALID_VALUE, "class %u: there are 0 to %d", qos->cls,
                       GS_CLASS_BEST_EFFORT);
    if (qos->priority < 0) /* a priority that is too high is lowered later */
        return qos_check_priority(qos->priority, qos_priority_most(device), text);
    if (qos->weight > QOS_WEIGHT_MAX)
        return refusal(text, GS_ERR_INVALID_VALUE, "weight %u: 1 to %u, or 0 for the default",
                       qos->weight, QOS_WEIGHT_MAX);
    if (qos->deadline_ns > QOS_DEADLINE_MAX_NS)
        return refusal(
            text, GS_ERR_INVALID_VALUE, "a deadline of %llu ns from submission: at most %llu",
            (unsigned long long)qos->deadline_ns, (unsigned long long)QOS_DEADLINE_MAX_NS);
    if (qos->affinity_type > GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE)
        return refusal(text, GS_ERR_INVALID_VALUE, "affinity type %u: there are 0 to %d",
                       qos->affinity_type, GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE);
    if (device->sms.sm_count == 0)
        return GS_OK;
    if (qos->affinity_type != GS_EXEC_AFFINITY_NONE)
        return affinity_check(qos, &device->sms, text);
    return qos->exclusive ? sm_check_partitions(&device->sms, text) : GS_OK;
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static uint32_t cap_lower(uint32_t a, uint32_t b)
{
    return (uint32_t)limit_lower(a, b);
}

/* Returns the tighter of two settings, field by field. The lower number is the tighter one, and no
 * (0) is tighter than yes. */
static struct ctl_settings settings_tightest(const struct ctl_settings *a,
                                             const struct ctl_settings *b,
                                             const struct placer_device *device)
{
    struct ctl_settings t = *a;

    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];
        const bool both = t.fields & field->bit;

        if (!(b->fields & field->bit))
            continue;
        if (field->kind == SETTING_MASK) {
            struct sm_mask more = sm_mask_of(b->sm_mask),
                           all = both ? sm_mask_of(t.sm_mask) : device->all;
            all = sm_mask_and(all, more);
            memcpy(t.sm_mask, all.word, sizeof(t.sm_mask));
        } else if (both && field->kind == SETTING_CLASS) {
            t.cls = class_lower(t.cls, b->cls);
        } else if (!both || setting_number(b, field) < setting_number(&t, field)) {
            setting_copy(&t, field, b);
        }
    }
    t.fields |= b->fields;
    return t;
}

struct ctl_settings qos_set_everybody(const struct server *server)
{
    const struct ctl_settings given =
        settings_merge(&server->options.mps, 0, &server->policy.everybody);

    return settings_merge(&given, 0, &server->settings.everybody);
}

struct ctl_settings qos_set_user(const struct server *server, uid_t uid)
{
    const struct ctl_settings policy = settings_of_user(&server->policy, uid);
    const struct ctl_settings set = settings_of_user(&server->settings, uid);

    return settings_merge(&policy, 0, &set);
}

#define OTHERS_SHARE     4u /* fraction per other user of sessions, device memory and CPUs */
/* The fraction per other user of descriptors, segments, host memory, sets of SMs and the device
 * memory that the driver takes, which all users share. */
#define OTHERS_PART      8u
#define OTHERS_LEAST     64u
#define OTHERS_KERNEL_MS 10000u

static uint32_t others_part(uint32_t all)
{
    return all / OTHERS_PART > OTHERS_LEAST ? all / OTHERS_PART : OTHERS_LEAST;
}

/* Returns the limit on compiling for each other user, in percent of a CPU. */
static uint32_t others_compile(uint32_t cpus)
{
    const uint32_t share = 100 * cpus / OTHERS_SHARE;

    return share < SETTING_COMPILE_MAX ? share : SETTING_COMPILE_MAX;
}

/* Returns the host memory that the sessions of all users may have on a device. The rest is for the
 * server itself, whose tables, buffers and compilations are not counted. */
static uint64_t all_host_mem(const struct server *server)
{
    return server->host_memory / 4 * 3 / (uint64_t)server->device_count;
}

struct ctl_settings qos_others(const struct server *server, const struct device *device)
{
    const struct ctl_settings set = qos_set_user(server, CTL_OTHERS);
    const uint32_t sessions = server->registry.capacity / OTHERS_SHARE;
    struct ctl_settings others = {
        .fields = CTL_EXCLUSIVE | CTL_PRIORITY | CTL_CLASS | CTL_USER_SESSIONS | CTL_USER_HOSTS |
                  CTL_USER_PIECES | CTL_USER_HOST_MEM | CTL_USER_SETS | CTL_USER_COMPILE |
                  CTL_KERNEL_LIMIT,
        .cls = GS_CLASS_NORMAL,
        .kernel_limit = OTHERS_KERNEL_MS,
        .user_sessions = sessions ? sessions : 1,
        .user_hosts = others_part(server->segments_max),
        .user_pieces = others_part(server->descriptors_max),
        .user_host_mem = server->host_memory / OTHERS_PART / SETTING_MEM_LEAST * SETTING_MEM_LEAST,
        .user_sets = LINK_SETS_MAX / OTHERS_PART,
        .user_compile = others_compile(server->cpus)};
    const uint64_t driver_mem =
        device->info.memory_total / OTHERS_PART / SETTING_MEM_LEAST * SETTING_MEM_LEAST;

    if (device->info.memory_total / OTHERS_SHARE >= SETTING_MEM_LEAST) {
        others.fields |= CTL_USER_MEM;
        others.user_mem =
            device->info.memory_total / OTHERS_SHARE / SETTING_MEM_LEAST * SETTING_MEM_LEAST;
    }
    if (driver_mem) {
        others.fields |= CTL_USER_DRIVER_MEM;
        others.user_driver_mem = driver_mem;
    }
    return settings_merge(&others, 0, &set);
}

/* Returns the limits of the user's sessions. `granted` are fields that the operator has set for one
 * session, which replace the limits of other users. */
static struct ctl_settings user_limits(const struct server *server, uid_t uid,
                                       const struct device *device, uint32_t granted)
{
    const struct ctl_settings own = qos_set_user(server, uid);
    struct ctl_settings limit = qos_set_everybody(server), others;

    if (server_other(server, uid)) {
        others = qos_others(server, device);
        /* A setting of the user or the session replaces the limit of other users, even if it is
         * higher. */
        others.fields &= ~(own.fields | granted);
        limit = settings_tightest(&limit, &others, &device->sms);
    }
    return settings_tightest(&limit, &own, &device->sms);
}

struct ctl_settings qos_of_user(const struct server *server, uid_t uid, const struct device *device)
{
    return user_limits(server, uid, device, 0);
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* Returns the cap that the share, the session's request and the limits make, in SMs; 0: none. */
static uint32_t effect_cap(const struct session *session, uint32_t share,
                           const struct ctl_settings *limit)
{
    const struct placer_device *sms = &session->device->sms;
    const struct wire_qos *asked = &session->qos;
    uint32_t cap = share;

    if (limit->fields & CTL_PERCENTAGE)
        cap = cap_lower(sm_count_of_hundredths(sms->sm_count, limit->hundredths), cap);
    if (limit->fields & CTL_SMS)
        cap = cap_lower(limit->sms, cap);
    if (asked->affinity_type == GS_EXEC_AFFINITY_SM_COUNT)
        cap = cap_lower(asked->sm_count, cap);
    if (asked->affinity_type == GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE)
        cap = cap_lower(sm_count_of_percentage(sms->sm_count, asked->percentage), cap);
    return cap;
}

static gs_status effect_sms(const struct session *session, uint32_t share,
                            const struct ctl_settings *limit, struct qos_effect *effect,
                            char text[REFUSAL_TEXT_MAX])
{
    const struct placer_device *sms = &session->device->sms;
    const struct wire_qos *asked = &session->qos;
    char list[48];

    effect->sms = effect_cap(session, share, limit);
    effect->within = sms->all;
    effect->bounded = limit->fields & CTL_MASK || asked->affinity_type == GS_EXEC_AFFINITY_SM_MASK;
    /* A ban also takes exclusive SMs from a session that has them: only asking anew is refused. */
    effect->grant.exclusive = limit->fields & CTL_EXCLUSIVE ? limit->exclusive : asked->exclusive;
    if (sms->group_count == 0) {
        /* A cap that the device cannot enforce is refused. Sessions' own requests were refused
         * earlier. */
        if (effect->sms >= sms->sm_count)
            effect->sms = 0;
        if (effect->sms || effect->bounded || effect->grant.exclusive)
            return refusal(
                text, GS_ERR_NOT_SUPPORTED,
                "the operator limits this session's SMs, and the device has no partitions");
        return GS_OK;
    }
    if (limit->fields & CTL_MASK) {
        struct sm_mask allowed = sm_mask_of(limit->sm_mask);
        effect->within = placer_mask_inner(sms, &allowed);
    }
    if (sm_mask_empty(&effect->within))
        return refusal(text, GS_ERR_LIMIT, "the masks that the operator set have no SM in common");
    if (asked->affinity_type == GS_EXEC_AFFINITY_SM_MASK) {
        struct sm_mask both = sm_mask_and(effect->within, sm_mask_of(asked->sm_mask));

        if (sm_mask_empty(&both))
            return refusal(text, GS_ERR_LIMIT, "no SM of the mask is among those allowed: %s",
                           sm_mask_print(list, sizeof(list), &effect->within));
        effect->within = both;
    }
    if (effect->grant.exclusive && effect->sms == 0 && !effect->bounded)
        return refusal(text, GS_ERR_INVALID_VALUE,
                       "exclusive goes with a count, a percentage or a mask of SMs");
    return GS_OK;
}

gs_status qos_effect(const struct session *session, uint32_t share, struct qos_effect *effect,
                     char text[REFUSAL_TEXT_MAX])
{
    const struct server *server = session->server;
    struct ctl_settings user =
        user_limits(server, session->uid, session->device, session->set.fields);
    struct ctl_settings limit = settings_tightest(&user, &session->set, &session->device->sms);
    const struct wire_qos *asked = &session->qos;
    /* A class or priority set for the session itself replaces its request, so an operator can raise
     * it. The settings of its user and of all sessions still cap it. */
    uint32_t cls = session->set.fields & CTL_CLASS ? session->set.cls : asked->cls;
    int32_t priority = session->set.fields & CTL_PRIORITY ? session->set.priority : asked->priority;
    struct link_grant *grant = &effect->grant;

    *effect = (struct qos_effect){0};
    grant->cls = limit.fields & CTL_CLASS ? class_lower(limit.cls, cls) : cls;
    grant->priority_max = limit.fields & CTL_PRIORITY ? limit.priority : INT32_MAX;
    grant->priority = priority < grant->priority_max ? priority : grant->priority_max;
    grant->weight = asked->weight ? asked->weight : 1;
    if (limit.fields & CTL_WEIGHT)
        grant->weight = cap_lower(asked->weight, limit.weight);
    grant->kernel_limit = limit.fields & CTL_KERNEL_LIMIT ? limit.kernel_limit : 0;
    grant->kernel_limit =
        cap_lower(grant->kernel_limit, server->policy.cls[grant->cls].kernel_limit);
    grant->launches_max = limit.fields & CTL_LAUNCHES_MAX ? limit.launches_max : 0;
    grant->deadline_ns = asked->deadline_ns;
    grant->mem_limit = limit_lower(session->mem_asked, server->options.mem_limit);
    if (limit.fields & CTL_MEM)
        grant->mem_limit = limit_lower(limit.mem, grant->mem_limit);
    grant->user_mem_limit = user.fields & CTL_USER_MEM ? user.user_mem : 0;
    grant->user_host_mem = user.fields & CTL_USER_HOST_MEM ? user.user_host_mem : 0;
    grant->all_host_mem = server_other(server, session->uid) ? all_host_mem(server) : 0;
    grant->host_mem_granted = ((session->set.fields | qos_set_user(server, session->uid).fields) &
                               CTL_USER_HOST_MEM) != 0;
    grant->user_sets = user.fields & CTL_USER_SETS ? user.user_sets : 0;
    grant->user_hosts = user.fields & CTL_USER_HOSTS ? user.user_hosts : 0;
    grant->user_driver_mem = user.fields & CTL_USER_DRIVER_MEM ? user.user_driver_mem : 0;
    grant->user_compile = user.fields & CTL_USER_COMPILE ? user.user_compile : 0;
    return effect_sms(session, share, &limit, effect, text);
}
