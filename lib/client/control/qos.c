/* qos.c - see qos.h. */
#include "client/control/qos.h"

#include <sched.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/params.h"
#include "client/submit/submit.h"
#include "common/cpus.h"
#include "common/seg_grant.h"
#include "common/sm_groups.h"
#include "common/util.h"

#define GRANT_TRIES   100000u /* the worker writes a grant in some nanoseconds */
#define GRANT_WAIT_NS UINT64_C(1000000000)
/* The client waits longer than the server tries. Otherwise a grant could come into force after the
 * caller was told that the request had failed. */
#define ANSWER_NS     (QOS_PATIENCE_NS + 5000000000u)

/* ---- What needs no server -------------------------------------------------------------------- */

static gs_status affinity_check(const gs_exec_affinity *affinity)
{
    struct sm_mask mask;

    switch (affinity->type) {
    case GS_EXEC_AFFINITY_NONE:
        return GS_OK;
    case GS_EXEC_AFFINITY_SM_COUNT:
        /* The server checks the count against the device. */
        if (affinity->sm_count == 0)
            return error_set(GS_ERR_INVALID_VALUE,
                             "gs_qos.affinity.sm_count is 0; it needs an SM at least");
        return GS_OK;
    case GS_EXEC_AFFINITY_SM_MASK:
        memcpy(mask.word, affinity->sm_mask, sizeof(mask.word));
        if (sm_mask_empty(&mask))
            return error_set(GS_ERR_INVALID_VALUE,
                             "gs_qos.affinity.sm_mask is empty; it needs an SM at least");
        return GS_OK;
    case GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE:
        if (affinity->percentage == 0 || affinity->percentage > 100)
            return error_set(GS_ERR_INVALID_VALUE, "gs_qos.affinity.percentage is %u, not 1 to 100",
                             affinity->percentage);
        return GS_OK;
    default:
        return error_set(GS_ERR_INVALID_VALUE, "gs_qos.affinity.type is %d, not 0 to %d",
                         (int)affinity->type, GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE);
    }
}

gs_status qos_read(gs_qos *qos, const gs_qos *given)
{
    gs_qos read = GS_QOS_INIT;
    gs_status status;

    if (!given)
        return GS_OK;
    status = params_read(&read, sizeof(read), PARAMS_UP_TO(gs_qos, priority), given, "gs_qos");
    if (status != GS_OK)
        return status;
    if ((unsigned)read.cls > GS_CLASS_BEST_EFFORT)
        return error_set(GS_ERR_INVALID_VALUE, "gs_qos.cls is %d, not 0 to %d", (int)read.cls,
                         GS_CLASS_BEST_EFFORT);
    if (read.priority < 0)
        return error_set(GS_ERR_INVALID_VALUE,
                         "gs_qos.priority is %d; it is 0 or more, and higher is earlier",
                         read.priority);
    if (read.weight > QOS_WEIGHT_MAX)
        return error_set(GS_ERR_INVALID_VALUE, "gs_qos.weight is %u, not 1 to %u (0: the default)",
                         read.weight, QOS_WEIGHT_MAX);
    if (read.deadline_ns > QOS_DEADLINE_MAX_NS)
        return error_set(
            GS_ERR_INVALID_VALUE, "gs_qos.deadline_ns is %llu from submission; at most %llu",
            (unsigned long long)read.deadline_ns, (unsigned long long)QOS_DEADLINE_MAX_NS);
    status = affinity_check(&read.affinity);
    if (status == GS_OK)
        *qos = read;
    return status;
}

struct wire_qos qos_wire(const gs_qos *qos)
{
    const gs_exec_affinity *affinity = &qos->affinity;
    struct wire_qos wire = {.cls = (uint32_t)qos->cls,
                            .priority = qos->priority,
                            .weight = qos->weight,
                            .affinity_type = (uint32_t)affinity->type,
                            .exclusive = affinity->exclusive != 0,
                            .deadline_ns = qos->deadline_ns};

    /* Only the field of the type is copied, so that equal requests have equal bytes. */
    if (affinity->type == GS_EXEC_AFFINITY_SM_COUNT)
        wire.sm_count = affinity->sm_count;
    if (affinity->type == GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE)
        wire.percentage = affinity->percentage;
    if (affinity->type == GS_EXEC_AFFINITY_SM_MASK)
        memcpy(wire.sm_mask, affinity->sm_mask, sizeof(wire.sm_mask));
    return wire;
}

/* ---- The environment ------------------------------------------------------------------------- */

void qos_lower(gs_qos *qos, const struct env_limits *env)
{
    gs_exec_affinity *affinity = &qos->affinity;

    if (qos->priority > env->priority)
        qos->priority = env->priority;
    if (env->cls == GS_CLASS_BEST_EFFORT)
        qos->cls = GS_CLASS_BEST_EFFORT;
    if (env->percentage >= 100)
        return;
    if (affinity->type == GS_EXEC_AFFINITY_NONE)
        *affinity = (gs_exec_affinity){.type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE,
                                       .percentage = env->percentage,
                                       .exclusive = affinity->exclusive};
    else if (affinity->type == GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE &&
             env->percentage < affinity->percentage)
        affinity->percentage = env->percentage;
}

uint32_t qos_environment(const struct wire_qos *qos, const struct env_limits *env, uint32_t sms)
{
    const struct sm_mask mask = sm_mask_of(qos->sm_mask);
    uint32_t fields = env->mem_lowered ? CTL_MEM : 0;

    if (env->cls == GS_CLASS_BEST_EFFORT)
        fields |= CTL_CLASS;
    if (qos->priority == env->priority)
        fields |= CTL_PRIORITY;
    if (env->percentage >= 100)
        return fields;
    if ((qos->affinity_type == GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE &&
         qos->percentage == env->percentage) ||
        (qos->affinity_type == GS_EXEC_AFFINITY_SM_COUNT && qos->sm_count == sms) ||
        (qos->affinity_type == GS_EXEC_AFFINITY_SM_MASK && sm_mask_count(&mask) == sms))
        fields |= CTL_PERCENTAGE;
    return fields;
}

/* The server refuses SMs that the device does not have. */
bool qos_lower_on_device(const struct session *session, gs_qos *qos)
{
    const struct seg_info *info = &session->info;
    uint32_t most = sm_count_of_hundredths(info->sm_count, session->env.hundredths);
    gs_exec_affinity *affinity = &qos->affinity;
    struct wire_qos asked = qos_wire(qos), lowered;
    struct sm_mask mask;

    qos_lower(qos, &session->env);
    if (affinity->type == GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE &&
        sm_count_of_percentage(info->sm_count, affinity->percentage) > most)
        *affinity = (gs_exec_affinity){
            .type = GS_EXEC_AFFINITY_SM_COUNT, .sm_count = most, .exclusive = affinity->exclusive};
    if (affinity->type == GS_EXEC_AFFINITY_SM_COUNT && affinity->sm_count <= info->sm_count &&
        affinity->sm_count > most)
        affinity->sm_count = most;
    memcpy(mask.word, affinity->sm_mask, sizeof(mask.word));
    if (affinity->type == GS_EXEC_AFFINITY_SM_MASK && info->sm_granularity &&
        sm_groups_whole(&mask, info->sm_group, info->sm_count)) {
        mask = sm_groups_first(&mask, most, info->sm_group, info->sm_count);
        memcpy(affinity->sm_mask, mask.word, sizeof(mask.word));
    }
    lowered = qos_wire(qos);
    return memcmp(&asked, &lowered, sizeof(asked)) != 0;
}

/* ---- The grant ------------------------------------------------------------------------------- */

gs_status qos_granted(const struct session *session, struct seg_grant *grant)
{
    uint64_t give_up = 0;

    for (unsigned i = 0; give_up == 0 || clock_ns() < give_up; i++) {
        if (seg_grant_read(&session->server_page->grant, grant))
            return GS_OK;
        if (i < GRANT_TRIES) {
            cpu_relax();
            continue;
        }
        /* The lane may have lost its processor while it was writing. */
        if (give_up == 0)
            give_up = clock_ns() + GRANT_WAIT_NS;
        sched_yield();
    }
    return error_set(GS_ERR_PROTOCOL, "the grant in the session's segment is never whole");
}

void qos_describe(const struct session *session, const struct seg_grant *grant, gs_qos *qos)
{
    gs_exec_affinity *affinity = &qos->affinity;

    *qos = (gs_qos)GS_QOS_INIT;
    qos->cls = (gs_class)grant->cls;
    qos->priority = grant->priority;
    qos->weight = grant->weight;
    qos->deadline_ns = grant->deadline_ns;
    affinity->type = grant->partition ? GS_EXEC_AFFINITY_SM_MASK : GS_EXEC_AFFINITY_NONE;
    affinity->sm_count = grant->sm_count;
    affinity->percentage = sm_percentage_of_count(session->info.sm_count, grant->sm_count,
                                                  session->info.sm_granularity);
    affinity->exclusive = grant->exclusive;
    memcpy(affinity->sm_mask, grant->sm_mask, sizeof(affinity->sm_mask));
}

gs_status qos_ask(struct session *session, const gs_qos *qos)
{
    struct ctl_set_qos request = {.cookie = session->cookie, .qos = qos_wire(qos)};
    struct ctl_done_reply reply;
    char message[REQUEST_MESSAGE_MAX];
    uint64_t patience = session->timeout_ns > ANSWER_NS ? session->timeout_ns : ANSWER_NS;
    gs_status status;

    request.qos.environment =
        qos_environment(&request.qos, &session->env,
                        sm_count_of_hundredths(session->info.sm_count, session->env.hundredths));
    /* Pre-wakes the worker's threads, which apply the grant, while the server decides. */
    if (cpus_to_spare())
        activity_signal(session, SEG_REQUEST_BIT);
    status = control_ask(&session->control, &request.h, CTL_SET_QOS, sizeof(request), &reply,
                         sizeof(reply), clock_ns() + patience, message);
    return status == GS_OK ? GS_OK : error_server(status, message);
}

/* ---- Within the grant ------------------------------------------------------------------------ */

/* Checks class and priority against the grant. GS_CLASS_NORMAL, the default, counts as the
 * session's class if that is lower. */
static gs_status rank_check(const struct session *session, const struct seg_grant *grant,
                            const gs_qos *qos, const char *what)
{
    int most = grant->priority_max;

    if (most > session->env.priority)
        most = session->env.priority;
    if (qos->cls == GS_CLASS_LATENCY && grant->cls != GS_CLASS_LATENCY)
        return error_set(GS_ERR_INVALID_VALUE,
                         "gs_qos.cls is GS_CLASS_LATENCY, above the session's %s; %s can only go "
                         "down",
                         grant->cls == GS_CLASS_NORMAL ? "GS_CLASS_NORMAL" : "GS_CLASS_BEST_EFFORT",
                         what);
    if (qos->priority > most)
        return error_set(GS_ERR_INVALID_VALUE,
                         "gs_qos.priority is %d; the session may have 0 to %d", qos->priority,
                         most);
    return GS_OK;
}

/* Returns whether a request sets a weight other than the granted one. The granted weight is
 * accepted, since callers start from what gs_get_qos returned. */
static bool weight_foreign(const struct seg_grant *grant, const gs_qos *qos)
{
    return qos->weight && qos->weight != grant->weight;
}

static gs_status field_refuse(const char *field, const char *what)
{
    return error_set(GS_ERR_NOT_SUPPORTED, "gs_qos.%s is set; %s has none of its own", field, what);
}

gs_status qos_for_stream(const struct session *session, const gs_qos *given, gs_qos *qos)
{
    static const char what[] = "a stream";
    struct seg_grant grant;
    gs_status status = qos_read(qos, given);

    if (status == GS_OK)
        status = qos_granted(session, &grant);
    if (status != GS_OK)
        return status;
    if (weight_foreign(&grant, qos))
        return field_refuse("weight", what);
    if (qos->deadline_ns)
        return field_refuse("deadline_ns", what);
    if (qos->affinity.type != GS_EXEC_AFFINITY_NONE || qos->affinity.exclusive)
        return field_refuse("affinity", what);
    return rank_check(session, &grant, qos, what);
}

static gs_status count_check(const struct seg_grant *grant, uint32_t wanted)
{
    if (wanted <= grant->sm_count)
        return GS_OK;
    return error_set(GS_ERR_INVALID_VALUE,
                     "gs_qos.affinity means %u SMs; the session has been granted %u", wanted,
                     grant->sm_count);
}

/* Checks a launch's mask. The stream remembers the last mask found to consist of whole groups,
 * since launches repeat masks. */
static gs_status mask_check(const struct session *session, struct stream *stream,
                            const struct seg_grant *grant, const gs_exec_affinity *affinity)
{
    const struct seg_info *info = &session->info;
    struct sm_mask mask, granted, torn;
    char list[48];

    memcpy(mask.word, affinity->sm_mask, sizeof(mask.word));
    memcpy(granted.word, grant->sm_mask, sizeof(granted.word));
    if (!sm_mask_within(&mask, &granted))
        return error_set(GS_ERR_INVALID_VALUE,
                         "gs_qos.affinity.sm_mask has SMs that are not among the %u granted to the "
                         "session",
                         grant->sm_count);
    if (sm_mask_equal(&mask, &stream->whole_mask))
        return GS_OK;
    if (!sm_groups_whole(&mask, info->sm_group, info->sm_count)) {
        torn = sm_groups_torn(&mask, info->sm_group, info->sm_count);
        return error_set(
            GS_ERR_INVALID_VALUE,
            "gs_qos.affinity.sm_mask is not made of whole groups of %u SMs: SMs %s are "
            "granted together",
            info->sm_granularity, sm_mask_print(list, sizeof(list), &torn));
    }
    stream->whole_mask = mask;
    return GS_OK;
}

static gs_status place_check(const struct session *session, struct stream *stream,
                             const struct seg_grant *grant, const gs_exec_affinity *affinity)
{
    if (affinity->exclusive && !grant->exclusive)
        return field_refuse("affinity.exclusive", "one launch");
    if (affinity->type == GS_EXEC_AFFINITY_NONE)
        return GS_OK;
    if (!session->info.sm_granularity)
        return error_set(GS_ERR_NOT_SUPPORTED,
                         "gs_qos.affinity.type is %d; this device or its driver has no partitions",
                         (int)affinity->type);
    if (affinity->type == GS_EXEC_AFFINITY_SM_COUNT)
        return count_check(grant, affinity->sm_count);
    if (affinity->type == GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE)
        return count_check(grant,
                           sm_count_of_percentage(session->info.sm_count, affinity->percentage));
    return mask_check(session, stream, grant, affinity);
}

gs_status qos_for_launch(const struct session *session, struct stream *stream, const gs_qos *given,
                         struct wire_qos *wire)
{
    static const char what[] = "one launch";
    struct seg_grant grant;
    gs_qos qos = GS_QOS_INIT;
    gs_status status = qos_read(&qos, given);

    if (status == GS_OK)
        status = qos_granted(session, &grant);
    if (status == GS_OK && weight_foreign(&grant, &qos))
        status = field_refuse("weight", what);
    if (status == GS_OK)
        status = rank_check(session, &grant, &qos, what);
    if (status == GS_OK)
        status = place_check(session, stream, &grant, &qos.affinity);
    if (status != GS_OK)
        return status;
    *wire = qos_wire(&qos);
    wire->weight = wire->exclusive = 0;
    return GS_OK;
}
