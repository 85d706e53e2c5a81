/*
 * placement.c - decides on which SMs a session's launches run: in its grant or, while best-effort
 * work must leave the latency headroom free, in a trimmed partition (the grant less the headroom).
 * Also makes room in the table of partitions.
 */
#include "worker/submit/placement.h"

#include "common/util.h"
#include "worker/sched/class_traits.h"
#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/submit/graph.h"
#include "worker/submit/graph_cache.h"
#include "worker/submit/product_graph.h"

/* after which time a missing trimmed partition is requested again */
#define TRIMMED_AGAIN_NS 1000000000u

/* ---- Room for another partition -------------------------------------------------------------- */

/* Destroys the graphs with nodes in the partition, of all sessions that the main lane has. Skips
 * paused sessions, because a service thread may be using their graphs. Destroying graphs takes the
 * driver long, while all tenants of the lane wait. With driver 580 there are no graphs to destroy:
 * only partitions that could not be made are dismissed (partition_idle), and no graph has nodes in
 * those. */
static void graphs_evict_all(struct partition *partition)
{
    if (!partition_has_graphs(partition))
        return;
    for (uint32_t i = 0; i < session_table_slots(); i++) {
        struct session *session = session_table_at(i);
        if (!session || session->jobs.paused || session_elsewhere(session))
            continue;
        for (uint32_t n = 0; n < SEG_STREAMS; n++) {
            graph_cache_evict(session->submit.streams[n].graph_cache, partition);
            product_graphs_evict(session->submit.streams[n].product_graphs, partition);
        }
        graphs_evict(session, partition);
    }
}

/* Dismisses the partition without holders that was requested least recently or, if a service thread
 * has graphs in it, the next one. Returns false if none can be dismissed. */
static bool idle_dismiss(void)
{
    struct partition *idle = NULL;

    while ((idle = partition_idle(idle))) {
        graphs_evict_all(idle);
        if (partition_dismiss(idle))
            return true;
    }
    return false;
}

static void room_make(const struct sm_mask *mask)
{
    if (partition_table_full(mask))
        idle_dismiss();
}

struct partition *placement_get(const struct sm_mask *mask, const struct session *asker,
                                gs_status *status)
{
    room_make(mask);
    return partition_get(mask, asker, status);
}

struct partition *placement_get_in_turn(const struct sm_mask *mask, const struct session *asker,
                                        gs_status *status)
{
    struct partition *partition = partition_get_in_turn(mask, asker, status);

    if (partition || *status != GS_ERR_LIMIT || !partition_table_full(mask) || !idle_dismiss())
        return partition;
    return partition_get_in_turn(mask, asker, status);
}

bool placement_free_idle(void)
{
    bool freed = false;

    partitions_keep(); /* no launch is between its record and its issue at this point */
    while (idle_dismiss())
        freed = true;
    return freed;
}

/* ---- Best effort beside latency work --------------------------------------------------------- */

static void trimmed_release(struct trimmed *trimmed)
{
    partition_release_trimmed(trimmed->partition);
    *trimmed = (struct trimmed){0};
}

void placement_deinit(struct session *session)
{
    for (uint32_t i = 0; i < ARRAY_SIZE(session->placement.trimmed); i++)
        trimmed_release(&session->placement.trimmed[i]);
}

uint32_t placement_headroom_level(const struct session *session, uint32_t cls)
{
    return class_traits(cls).leaves_headroom ? headroom_now(&session->lane->headroom)
                                             : HEADROOM_NONE;
}

struct sm_mask placement_headroom_mask(uint32_t level)
{
    if (level == HEADROOM_NONE)
        return (struct sm_mask){{0}};
    return sm_mask_of(level == HEADROOM_PARTIAL
                          ? worker->policy.partial_mask
                          : worker->policy.headroom_mask[level - HEADROOM_FULL]);
}

/* Releases the trimmed partitions of sleeping sessions. Each such session finds them again at its
 * next launch, mostly in the cache. */
static void trimmed_release_asleep(const struct session *asker)
{
    for (struct session *other = session_table_next(NULL); other;
         other = session_table_next(other)) {
        if (other->sched.polled || other == asker)
            continue;
        placement_deinit(other);
    }
}

/* Requests the partition of the grant less the latency headroom; one that cannot be made is
 * requested again later. Returns false if there is no room for another partition. */
static bool trimmed_get(const struct session *session, struct trimmed *trimmed, uint32_t level)
{
    const struct sm_mask mask = sm_mask_minus(session->grant.mask, placement_headroom_mask(level));

    trimmed_release(trimmed);
    trimmed->policy = worker->policy_count;
    if (sm_mask_empty(&mask) || sm_mask_equal(&mask, &session->grant.mask))
        return true;
    trimmed->again_ns = session->lane->now + TRIMMED_AGAIN_NS;
    room_make(&mask);
    trimmed->partition = partition_get_trimmed(&mask);
    return trimmed->partition;
}

static void trimmed_find(const struct session *session, struct trimmed *trimmed, uint32_t level)
{
    if (trimmed_get(session, trimmed, level))
        return;
    trimmed_release_asleep(session);
    trimmed_get(session, trimmed, level);
}

static bool trimmed_ready(const struct trimmed *trimmed)
{
    return trimmed->partition && trimmed->partition->state == PARTITION_READY;
}

/* Returns the trimmed partition of a level; NULL: there is none, or it is not ready. */
static struct partition *trimmed_partition(struct session *session, uint32_t level)
{
    struct trimmed *trimmed = &session->placement.trimmed[level - HEADROOM_PARTIAL];
    const bool late = trimmed->again_ns && session->lane->now > trimmed->again_ns;

    if (trimmed->policy != worker->policy_count || (late && !trimmed_ready(trimmed)))
        trimmed_find(session, trimmed, level);
    return trimmed_ready(trimmed) ? trimmed->partition : NULL;
}

/* Requests the session's trimmed partitions that are not known for this policy. Takes no partition
 * from another session: without room, they are requested again when they are needed. */
static void trimmed_prepare(struct session *session)
{
    for (uint32_t level = HEADROOM_PARTIAL; level <= HEADROOM_FULL; level++) {
        struct trimmed *trimmed = &session->placement.trimmed[level - HEADROOM_PARTIAL];

        if (trimmed->policy != worker->policy_count && !trimmed_get(session, trimmed, level))
            trimmed_release(trimmed);
    }
}

void placements_prepare(void)
{
    bool wanted = false;

    for (struct session *s = session_table_next(NULL); s && !wanted; s = session_table_next(s))
        wanted = class_traits(s->grant.link.cls).wants_headroom;
    for (struct session *s = wanted ? session_table_next(NULL) : NULL; s;
         s = session_table_next(s)) {
        if (class_traits(s->grant.link.cls).leaves_headroom)
            trimmed_prepare(s);
    }
}

struct partition *placement_of(struct session *session, uint32_t cls)
{
    struct partition *partition = NULL;

    for (uint32_t level = placement_headroom_level(session, cls);
         level > HEADROOM_NONE && !partition; level--)
        partition = trimmed_partition(session, level);
    return partition ? partition : session->grant.partition;
}
