/*
 * override.c - the QoS for which a single launch asks, always limited to its session's grant.
 *
 * The client library refuses a QoS that exceeds the grant that it reads. The grant may have changed
 * by the time the lane takes the launch, so this file refuses nothing for that reason: a class or
 * priority above the grant becomes the grant's, an affinity is cut to the granted SMs, and if no SM
 * is left the launch runs on all of the session's SMs. A QoS that is invalid under any grant cannot
 * come from the library, and is refused.
 */
#include "worker/submit/override.h"

#include <string.h>

#include "common/qos_class.h"
#include "common/sm_groups.h"
#include "worker/partition/partition.h"
#include "worker/sched/priority.h"
#include "worker/submit/placement.h"
#include "worker/submit/stream.h"

record_refusal override_check(const struct wire_qos *qos)
{
    struct sm_mask mask;

    memcpy(mask.word, qos->sm_mask, sizeof(mask.word));
    if (qos->cls >= CLASSES || qos->priority < 0 || qos->environment)
        return "a launch of no known class or priority";
    if (qos->weight || qos->exclusive)
        return "a launch with a weight or SMs of its own";
    if (qos->deadline_ns > QOS_DEADLINE_MAX_NS)
        return "a launch with a deadline that is too far";
    if (qos->affinity_type != GS_EXEC_AFFINITY_NONE && !worker->info.sm_groups)
        return "a launch with an affinity on a device without partitions";
    switch (qos->affinity_type) {
    case GS_EXEC_AFFINITY_NONE:
        return NULL;
    case GS_EXEC_AFFINITY_SM_COUNT:
        return qos->sm_count > 0 ? NULL : "a launch on no SM";
    case GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE:
        return qos->percentage > 0 && qos->percentage <= 100
                   ? NULL
                   : "a launch on a percentage that is not 1 to 100";
    case GS_EXEC_AFFINITY_SM_MASK:
        return !sm_mask_empty(&mask) &&
                       sm_groups_whole(&mask, worker->info.sm_group, worker->info.sm_count)
                   ? NULL
                   : "a launch on a mask that is not of whole groups of SMs";
    default:
        return "a launch with an affinity of no known kind";
    }
}

/* Returns the granted SMs that a checked affinity names. */
static struct sm_mask affinity_mask(const struct grant *grant, const struct wire_qos *qos)
{
    struct sm_mask mask;

    if (qos->affinity_type == GS_EXEC_AFFINITY_SM_MASK) {
        memcpy(mask.word, qos->sm_mask, sizeof(mask.word));
        mask = sm_mask_and(mask, grant->mask);
        return sm_mask_empty(&mask) ? grant->mask : mask;
    }
    return sm_groups_first(&grant->mask,
                           qos->affinity_type == GS_EXEC_AFFINITY_SM_COUNT
                               ? qos->sm_count
                               : sm_count_of_percentage(worker->info.sm_count, qos->percentage),
                           worker->info.sm_group, worker->info.sm_count);
}

/* Returns the SMs of the launch's affinity without the headroom; with it, if none would be left. */
static struct sm_mask launch_mask(const struct grant *grant, const struct wire_qos *qos,
                                  uint32_t level)
{
    const struct sm_mask mask = affinity_mask(grant, qos);
    const struct sm_mask rest = sm_mask_minus(mask, placement_headroom_mask(level));

    return !sm_mask_empty(&rest) ? rest : mask;
}

static bool same_affinity(const struct wire_qos *a, const struct wire_qos *b)
{
    return a->affinity_type == b->affinity_type && a->sm_count == b->sm_count &&
           a->percentage == b->percentage && !memcmp(a->sm_mask, b->sm_mask, sizeof(a->sm_mask));
}

/* Returns the partition found lately for the same affinity and headroom level; NULL: none. Saves a
 * search, which costs a microsecond. */
static const struct affinity_entry *affinity_find(const struct session *session,
                                                  const struct wire_qos *qos, uint32_t level)
{
    for (uint32_t i = 0; i < AFFINITY_ENTRIES; i++) {
        const struct affinity_entry *entry = &session->placement.affinity[i];
        if (entry->losses == partition_losses() && entry->level == level &&
            (level == HEADROOM_NONE || entry->policy == worker->policy_count) &&
            same_affinity(&entry->qos, qos))
            return entry;
    }
    return NULL;
}

static void affinity_store(struct session *session, const struct wire_qos *qos, uint32_t level,
                           struct partition *partition)
{
    struct affinity_entry *entry =
        &session->placement.affinity[session->placement.affinity_next++ % AFFINITY_ENTRIES];

    *entry =
        (struct affinity_entry){*qos, partition, partition_losses(), worker->policy_count, level};
}

static enum outcome launch_partition(struct session *session, uint32_t index,
                                     const struct wire_qos *qos, struct launch *launch)
{
    const uint32_t level = placement_headroom_level(session, launch->cls);
    const struct affinity_entry *entry = affinity_find(session, qos, level);
    struct partition *partition;
    gs_status status;

    if (entry) {
        launch->partition = entry->partition;
        if (launch->partition)
            partition_use(launch->partition);
        return RECORD_TAKEN;
    }
    const struct sm_mask mask = launch_mask(&session->grant, qos, level);
    if (sm_mask_equal(&mask, &session->grant.mask)) {
        launch->partition = session->grant.partition;
        affinity_store(session, qos, level, launch->partition);
        return RECORD_TAKEN;
    }
    partition = placement_get_in_turn(&mask, session, &status);
    if (!partition && status == GS_NOT_READY)
        return RECORD_STALLED;
    if (!partition)
        return record_impossible(session, index, status, launch->kernel, partition_trouble(status));
    if (partition->state == PARTITION_READY) {
        launch->partition = partition;
        affinity_store(session, qos, level, partition);
        return RECORD_TAKEN;
    }
    /* If no quiet moment came, the launch continues to wait, as it would for the driver itself. */
    if (partition->state == PARTITION_MAKING || partition->status == GS_ERR_TIMEOUT)
        return RECORD_STALLED;
    return record_impossible(session, index, partition->status, launch->kernel, partition->text);
}

enum outcome override_apply(struct session *session, uint32_t index, const struct wire_qos *qos,
                            struct launch *launch)
{
    const struct link_grant *grant = &session->grant.link;
    int32_t priority = qos->priority < grant->priority_max ? qos->priority : grant->priority_max;

    launch->cls = class_lower(qos->cls, grant->cls);
    launch->priority = stream_priority(launch->cls, priority);
    return qos->affinity_type == GS_EXEC_AFFINITY_NONE
               ? RECORD_TAKEN
               : launch_partition(session, index, qos, launch);
}
