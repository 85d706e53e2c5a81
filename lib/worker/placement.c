/*
 * placement.c - on which SMs a session's launches run: in its grant, or, while best-effort work
 * keeps off the SMs for latency work, in the grant less those; and room in the partitions' table
 * for another one.
 */
#include "worker/placement.h"

#include "common/util.h"
#include "worker/graph.h"
#include "worker/lane.h"
#include "worker/launch.h"
#include "worker/session_table.h"

#define SPARED_AGAIN_NS 1000000000u /* a partition for best effort that there is none of yet */

/* ---- Room for another partition --------------------------------------------------------------
 */

/* Destroys all graphs with nodes in it that belong to the main lane now: a session's are a service
 * thread's while the session is paused. */
static void graphs_leave_all(struct partition *partition)
{
    for (uint32_t i = 0; i < session_slots(); i++) {
        struct session *session = session_at(i);
        if (!session || session->paused || session->lane->index)
            continue;
        for (uint32_t n = 0; n < SEG_STREAMS; n++)
            launcher_leave(session->streams[n].launcher, partition);
        graphs_leave(session, partition);
    }
}

/* Dismisses the one that was asked for least lately of those that nobody holds; where a service
 * thread has graphs of it, the next one. false: none can go. */
static bool idle_dismiss(void)
{
    struct partition *idle = NULL;

    while ((idle = partition_idle(idle))) {
        graphs_leave_all(idle);
        if (partition_dismiss(idle))
            return true;
    }
    return false;
}

static void room_make(const struct sm_mask *mask)
{
    if (partition_wants_room(mask))
        idle_dismiss();
}

struct partition *placement_get(const struct sm_mask *mask, gs_status *status)
{
    room_make(mask);
    return partition_get(mask, status);
}

struct partition *placement_get_in_turn(const struct sm_mask *mask, gs_status *status)
{
    struct partition *partition = partition_get_in_turn(mask, status);

    if (partition || *status != GS_ERR_LIMIT || !partition_wants_room(mask) || !idle_dismiss())
        return partition;
    return partition_get_in_turn(mask, status);
}

bool placement_free_idle(void)
{
    bool freed = false;

    partitions_keep(); /* no launch is between its record and its issue now */
    while (idle_dismiss())
        freed = true;
    return freed;
}

/* ---- Best effort beside latency work ---------------------------------------------------------
 */

static void spared_drop(struct spared *spared)
{
    partition_release_spared(spared->partition);
    *spared = (struct spared){0};
}

void placements_drop(struct session *session)
{
    for (uint32_t i = 0; i < ARRAY_SIZE(session->spared); i++)
        spared_drop(&session->spared[i]);
}

uint32_t placement_kept_off(const struct session *session, uint32_t cls)
{
    return cls == GS_CLASS_BEST_EFFORT ? reserve_level(&session->lane->reserve) : RESERVE_NONE;
}

struct sm_mask placement_reserved(uint32_t kept)
{
    if (kept == RESERVE_NONE)
        return (struct sm_mask){{0}};
    return sm_mask_of(kept == RESERVE_FEW ? worker.policy.few_mask
                                          : worker.policy.reserve_mask[kept - RESERVE_ALL]);
}

/* Those that are not polled give theirs up, and find them again, mostly in the cache, with their
 * next launch. */
static void spared_drop_cold(const struct session *asker)
{
    for (struct session *other = session_after(NULL); other; other = session_after(other)) {
        if (other->hot || other == asker)
            continue;
        placements_drop(other);
    }
}

/* What was granted less what is kept; where it could not be made, once more later. false: there is
 * no room for another one. */
static bool spared_look(const struct session *session, struct spared *spared, uint32_t kept)
{
    const struct sm_mask mask = sm_mask_minus(session->grant.mask, placement_reserved(kept));

    spared_drop(spared);
    spared->policy = worker.policy_count;
    if (sm_mask_empty(&mask) || sm_mask_equal(&mask, &session->grant.mask))
        return true;
    spared->again_ns = session->lane->now + SPARED_AGAIN_NS;
    room_make(&mask);
    spared->partition = partition_get_spared(&mask);
    return spared->partition;
}

static void spared_find(const struct session *session, struct spared *spared, uint32_t kept)
{
    if (spared_look(session, spared, kept))
        return;
    spared_drop_cold(session);
    spared_look(session, spared, kept);
}

static bool spared_ready(const struct spared *spared)
{
    return spared->partition && spared->partition->state == PARTITION_READY;
}

/* NULL: there is none, or not yet. */
static struct partition *spared_partition(struct session *session, uint32_t kept)
{
    struct spared *spared = &session->spared[kept - RESERVE_FEW];
    const bool late = spared->again_ns && session->lane->now > spared->again_ns;

    if (spared->policy != worker.policy_count || (late && !spared_ready(spared)))
        spared_find(session, spared, kept);
    return spared_ready(spared) ? spared->partition : NULL;
}

/* Where they are not known for this policy. Nobody gives way: for want of room they are found when
 * they are wanted. */
static void spared_prepare(struct session *session)
{
    for (uint32_t kept = RESERVE_FEW; kept <= RESERVE_ALL; kept++) {
        struct spared *spared = &session->spared[kept - RESERVE_FEW];

        if (spared->policy != worker.policy_count && !spared_look(session, spared, kept))
            spared_drop(spared);
    }
}

void placements_prepare(void)
{
    bool latency = false;

    for (struct session *s = session_after(NULL); s && !latency; s = session_after(s))
        latency = s->grant.link.cls == GS_CLASS_LATENCY;
    for (struct session *s = latency ? session_after(NULL) : NULL; s; s = session_after(s)) {
        if (s->grant.link.cls == GS_CLASS_BEST_EFFORT)
            spared_prepare(s);
    }
}

struct partition *placement_of(struct session *session, uint32_t cls)
{
    struct partition *place = NULL;

    for (uint32_t kept = placement_kept_off(session, cls); kept > RESERVE_NONE && !place; kept--)
        place = spared_partition(session, kept);
    return place ? place : session->grant.partition;
}
