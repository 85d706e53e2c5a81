/* lane_choice.c - see lane_choice.h. These functions change nothing. */
#include "worker/loop/lane_choice.h"

#include "worker/sched/class_traits.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/submit/stream.h"

#define SHARED_MOST    2u /* tenants that a lane serves well */
#define CPUS_SPARE     2u /* CPUs left to other threads, beyond one for each tenant and each lane */
/* How long a session may be silent before a side lane returns it: SILENT_NS where the lane has no
 * other active session, else SILENT_BUSY_NS. A tenant that shares its CPU is silent during the time
 * slices of others. */
#define SILENT_NS      5000000u
#define SILENT_BUSY_NS 50000000u
#define RUNS_ON_NS     50000000u /* a light kernel takes a thousandth of this */

/* Returns how many active tenants a lane serves before another lane gets one, given the number that
 * are active on all lanes together. Measured on an H200 with 16 CPUs: four tenants that wait for
 * each launch make a third more launches with one tenant per lane than with two; sixteen make more
 * with two per lane, since with one per lane there would be more threads than CPUs. */
static uint32_t lane_tenants(uint32_t active, uint32_t cpus)
{
    return active > SHARED_MOST && 2 * active + CPUS_SPARE <= cpus ? 1 : SHARED_MOST;
}

/* Returns the lane with the most sessions among those that have fewer than `most`; where all lanes
 * have `most` or more, the one with the fewest. */
static uint32_t lane_for_more(const uint32_t *members, uint32_t count, uint32_t most)
{
    uint32_t best = LANE_NONE;

    for (uint32_t i = 0; i < count; i++) {
        const bool full = members[i] >= most;
        const bool best_full = best != LANE_NONE && members[best] >= most;
        if (best == LANE_NONE || full < best_full ||
            (full == best_full && (full ? members[i] < members[best] : members[i] > members[best])))
            best = i;
    }
    return best;
}

uint32_t lane_choose(const uint32_t *members, uint32_t count, uint32_t active, uint32_t cpus)
{
    uint32_t all = active;

    for (uint32_t i = 0; i < count; i++)
        all += members[i];
    const uint32_t most = lane_tenants(all, cpus), best = lane_for_more(members, count, most);
    if (active <= most ||
        (best != LANE_NONE && members[best] >= most && members[best] + 1 >= active))
        return LANE_NONE;
    return best;
}

bool lane_keeps(const struct lane *lane, uint64_t silent_ns)
{
    return silent_ns < (lane->active_lately > 0 ? SILENT_BUSY_NS : SILENT_NS);
}

bool session_runs_on(const struct session *session)
{
    const uint64_t since = inflight_since(session);

    return since && session->lane->now > since + RUNS_ON_NS;
}

bool session_light(const struct session *session)
{
    return session->submit.light >= LIGHT_LEAST && session->phase == SESSION_LIVE &&
           class_traits(session->sched.entity.cls).side_lanes && !session->grant.partition &&
           !session->grant.link.deadline_ns && !session->jobs.current && !session->jobs.close &&
           !session->jobs.paused && !session->submit.faulted && !session->inflight.awaiting_fence &&
           /* a launch of a listed session writes a headroom entity that the main lane reads */
           !session->sched.headroom.listed && !session->submit.reports_open &&
           !session->sched.entity.waiting && !(session->round.pending & REQUEST_BIT) &&
           session->poll.suspect_ns <= session->lane->now && /* only the main lane gives turns */
           session_seems_idle(session);
}
