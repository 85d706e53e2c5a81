/*
 * round.c - a scheduling round of the main lane: serves the requests and the records of each polled
 * session.
 *
 * Requests become jobs. Records are issued to the device as far as the scheduler allows: a session
 * that has an allowance issues at once, higher classes first. Where several sessions of a domain
 * are held back, they are served one at a time.
 */
#include "worker/loop/round.h"

#include <string.h>

#include "common/cpus.h"
#include "common/qos_class.h"
#include "common/util.h"
#include "worker/jobs/job.h"
#include "worker/loop/request.h"
#include "worker/loop/rings.h"
#include "worker/loop/route.h"
#include "worker/loop/user_round.h"
#include "worker/memory/user.h"
#include "worker/module/kernel_fault.h"
#include "worker/sched/class_traits.h"
#include "worker/sched/domain.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/session/polling.h"
#include "worker/session/quiet.h"
#include "worker/session/trial.h"
#include "worker/submit/drain.h"
#include "worker/submit/report.h"
#include "worker/submit/stream.h"

#define POLLED_NS         200000u /* how long a session stays polled after its last activity */
/* With many CPUs a session stays polled longer, because waking the thread delays the next record by
 * 100 to 300 us: a latency session for POLLED_LATENCY_NS after its last work, any other session as
 * long as the device has work that it issued less than POLLED_WORK_NS ago. With few CPUs, the
 * tenants need the CPUs more. */
#define POLLED_LATENCY_NS 20000000u
#define POLLED_WORK_NS    10000000u
/* While more than CROWD sessions are active on the lane, each of them is silent for a while between
 * two launches. If it were put to sleep then, it would have to ring the doorbell for each
 * launch. */
#define POLLED_CROWD_NS   2000000u
#define CROWD             2u
#define NAP_SHORTEST_NS   50000u
#define NAP_LONGEST_NS    1000000u
/* the lane does not nap when the device is expected to be free within this time */
#define NAP_NEVER_NS      200000u

/* The values in use: POLLED_LATENCY_NS and POLLED_WORK_NS, or less with few CPUs (round_init). */
static struct {
    uint64_t polled_latency_ns, polled_work_ns;
} rounds;

/* ---- Sessions -------------------------------------------------------------------------------- */

/* Returns for how many nanoseconds a latency request would wait for best-effort work that is in
 * flight. The best-effort session's own launches run one after the other, and they wait for normal
 * work. */
static uint64_t best_effort_ahead(const struct session *session)
{
    uint64_t all = sched_busy_ns(domain_of(session));

    return session->sched.entity.launches_ns > all ? session->sched.entity.launches_ns : all;
}

/* Drains the session's rings. Returns whether work was issued to the device. */
static bool session_serve(struct session *session)
{
    const unsigned drained = rings_drain(session);
    const bool taken = drained & RINGS_TAKEN, spent = drained & RINGS_SPENT;

    session->round.stalled = drained & RINGS_STALLED && !taken;
    session->lane->stay_awake = session->lane->stay_awake || spent || session->round.awaits;
    if (drained & RINGS_NO_ROOM)
        sched_wait(domain_of(session), &session->sched.entity, session->lane->now);
    else if (!spent) /* a session that used its budget up may still wait for room */
        sched_satisfied(domain_of(session), &session->sched.entity);
    /* An awaited arrival counts as work, so that best-effort sessions which are served later in
     * this round already leave headroom for it. */
    if (class_traits(session->sched.entity.cls).wants_headroom && (taken || session->round.awaits))
        headroom_note(&session->lane->headroom, &session->sched.headroom, true, session->lane->now);
    if (spent || !taken)
        session->round.tried = session->lane->round;
    if (!taken)
        return false;
    if (class_traits(session->sched.entity.cls).leaves_headroom)
        headroom_ahead(&session->lane->headroom, best_effort_ahead(session), session->lane->now);
    session->lane->busy = true;
    return true;
}

/* The sessions of a domain that wait and go first. */
struct waiting {
    struct session *first; /* the first session that has an allowance; NULL: none */
    struct session *full;  /* the first session that is full (session_full); NULL: none */
};

static void first_of(const struct sched *domain, struct session **best, struct session *session)
{
    if (!*best ||
        sched_before(domain, &session->sched.entity, &(*best)->sched.entity, session->lane->now))
        *best = session;
}

/* Returns whether a session without an allowance will have one once its kernels in flight have
 * ended. Not so if kernels are overdue, or if the operator's limit (launches_max) holds the session
 * back. Copies, whose time is not known, and narrow kernels do not count. */
static bool session_full(const struct session *session)
{
    const struct sched_entity *entity = &session->sched.entity;

    return entity->device_ns > 0 && entity->overdue_ns == 0 && sched_allowed(entity) &&
           class_traits(entity->cls).by_quantum;
}

/* Finds the waiting sessions that go first in each domain. Skips sessions whose user has used up
 * its part of the round: otherwise each of them would be found here, and refused, one after the
 * other, by a walk over all sessions. */
static void waiting_find(struct lane *lane, struct waiting waiting[DOMAINS_MAX])
{
    const bool several = users_several();

    memset(waiting, 0, domains_used() * sizeof(waiting[0]));
    for (uint32_t i = 0; i < lane->polled_count; i++) {
        struct session *session = lane->polled[i];
        const struct sched *domain = domain_of(session);
        uint64_t streams = session->round.pending & ~REQUEST_BIT;
        if (!session->sched.entity.waiting || session->round.tried == session->lane->round ||
            session->jobs.paused || trial_pauses(session) || !streams || !sched_contended(domain))
            continue;
        if (several && user_round_turns_away(session)) {
            session->round.tried = lane->round;
            lane->stay_awake = true;
            continue;
        }
        const bool allowance = rings_allowed(session);
        if (!allowance && !session_full(session))
            continue;
        session->sched.entity.deadline_ns =
            stream_deadline(session, (uint32_t)__builtin_ctzll(streams));
        struct waiting *in_domain = &waiting[domain_number(session)];
        first_of(domain, allowance ? &in_domain->first : &in_domain->full, session);
    }
}

/* Returns whether the first session that has an allowance may issue something. If a full session is
 * due before it, that session will have room soon, and a long kernel of the first one would delay
 * it. So the first session may then issue only if sched_may_pass allows it. */
static bool waiting_open(const struct sched *domain, const struct waiting *waiting, uint64_t now)
{
    const struct sched_entity *first = &waiting->first->sched.entity;
    struct sched_entity *full = waiting->full ? &waiting->full->sched.entity : NULL;

    if (!full || first->cls != full->cls || !sched_before(domain, full, first, now))
        return sched_open(domain, first, now);
    if (!sched_may_pass(domain, first, now))
        return false;
    sched_passed(full, first);
    return true;
}

/* Serves the waiting sessions of each domain, one at a time, until the device has enough work. */
static void waiting_serve(struct lane *lane)
{
    struct waiting waiting[DOMAINS_MAX];
    bool served = true;

    while (served) {
        served = false;
        waiting_find(lane, waiting);
        for (uint32_t i = 0; i < domains_used(); i++) {
            struct session *first = waiting[i].first;
            if (!first || !waiting_open(domain_at(i), &waiting[i], lane->now))
                continue;
            const uint32_t launches = first->sched.entity.launches;
            session_serve(first);
            /* If the session has no more in flight than before, serving it has cost it nothing, and
             * it would stay the first. Its tenant could then keep this round from ending, so it is
             * not tried again in this round. */
            if (first->sched.entity.launches <= launches)
                first->round.tried = lane->round;
            served = true;
        }
    }
}

/* Returns whether the session is likely to have work soon, because its tenant waits for work on the
 * device. Completion words count too, since copies and some launches have no fence. A tenant that
 * falsifies its completion words only keeps its session polled until the driver contradicts them
 * (device_watch), and for at most POLLED_WORK_NS after its last record. A latency session is always
 * polled while it has work on the device, so that best-effort work leaves headroom. */
static bool session_at_work(const struct session *session)
{
    const bool stays = class_traits(session->sched.entity.cls).stays_polled;

    if (session->round.awaits && !session->jobs.paused)
        return true;
    if (!stays && (session->round.pending & ~REQUEST_BIT ||
                   session->lane->now - session->poll.given_ns >= rounds.polled_work_ns))
        return false;
    return session_unfinished(session);
}

/* Returns for how many nanoseconds the session stays polled after its last activity. */
static uint64_t polled_time(const struct session *session)
{
    const uint64_t normal = session->lane->active_lately > CROWD ? POLLED_CROWD_NS : POLLED_NS;
    const bool stays = class_traits(session->sched.entity.cls).stays_polled;

    return stays && rounds.polled_latency_ns > normal ? rounds.polled_latency_ns : normal;
}

/* Takes the session's request, unless its user's requests have used up their part of the round. */
static void request_serve(struct session *session)
{
    const bool several = users_several();
    const uint64_t from = several ? clock_ns() : 0;

    if (several && !user_round_admits_request(session))
        return;
    session->round.pending &= ~REQUEST_BIT;
    session->jobs.current = request_take(session);
    if (session->jobs.current)
        job_begin(session->jobs.current);
    if (several)
        user_round_requested(session, from);
}

/* Serves the session's request and its records. Returns whether that makes the session active. */
static bool pending_serve(struct session *session)
{
    const struct lane *lane = session->lane;
    bool active = false;

    if (session->round.pending & REQUEST_BIT && !session->jobs.current &&
        lane->now >= session->submit.requests_from_ns) {
        request_serve(session);
        active = true;
    }
    if (session->jobs.paused || quiet_pauses(lane->now) || trial_pauses(session))
        return true;
    if (sched_contended(domain_of(session)) && class_traits(session->sched.entity.cls).waits &&
        session->round.pending & ~REQUEST_BIT) {
        /* waiting_serve serves it. */
        sched_wait(domain_of(session), &session->sched.entity, lane->now);
        return active;
    }
    /* A stalled session may wait for a ring position that never completes, so it does not keep the
     * lane from napping. A nap delays its own next record by at most NAP_LONGEST_NS. */
    return session_serve(session) || active ||
           !(session->sched.entity.waiting || session->round.stalled);
}

/* Serves one session in the second pass of a round, and stops polling it when it has been silent
 * for long enough. */
static void session_round(struct session *session)
{
    bool at_work = session_at_work(session),
         wants_headroom = class_traits(session->sched.entity.cls).wants_headroom;
    bool active = session->submit.reports_open > 0 || at_work;

    if (wants_headroom || session->sched.headroom.listed)
        headroom_note(&session->lane->headroom, &session->sched.headroom, wants_headroom && at_work,
                      session->lane->now);
    if (session->round.pending && !session->jobs.paused)
        active = pending_serve(session) || active;
    rings_seen(session);
    if (session->submit.reports_open)
        reports_poll_some(session);
    if (active)
        session->poll.active_ns = session->lane->now;
    else if (session->lane->now - session->poll.active_ns > polled_time(session)) {
        if (session->round.pending & ~REQUEST_BIT)
            return; /* its records wait for the device (device_watch) or for another stream */
        kernel_strays_count(session);
        session_poll_end(session);
        return;
    }
    session->lane->stay_awake = true;
}

void round_init(void)
{
    bool many = cpus_to_spare();

    rounds.polled_latency_ns = many ? POLLED_LATENCY_NS : POLLED_NS;
    rounds.polled_work_ns = many ? POLLED_WORK_NS : 0;
}

/* Returns for how many nanoseconds the work in flight is expected to keep the domain's SMs. */
static uint64_t domain_left(const struct sched *domain, uint64_t now)
{
    return sched_left(sched_busy_ns(domain), domain->done_ns, now);
}

/* Returns whether the SMs of any domain are expected to be free for the next session soon. Ignores
 * domains whose work should have ended long ago. */
static bool any_free_soon(uint64_t now)
{
    for (uint32_t i = 0; i < domains_used(); i++) {
        const struct sched *domain = domain_at(i);
        if (domain->device_ns > 0 && domain_left(domain, now) < NAP_NEVER_NS &&
            now < domain->done_ns + sched_busy_ns(domain) + NAP_NEVER_NS)
            return true;
    }
    return false;
}

/* Returns whether sessions of any domain wait for each other. */
static bool any_contended(void)
{
    for (uint32_t i = 0; i < domains_used(); i++) {
        if (sched_contended(domain_at(i)))
            return true;
    }
    return false;
}

void round_policy(struct lane *lane)
{
    const struct sm_mask share = sm_mask_of(worker->policy.headroom_mask[0]);

    lane->headroom.share_sms = sm_mask_count(&share);
}

void round_look(struct lane *lane)
{
    lane->round++;
    lane->stay_awake = false;
    lane->quiet_wanted = quiet_pressing();
    lane->active_now = lane->active_lately = 0;
    memset(lane->polled_of, 0, sizeof(lane->polled_of));
    inflight_poll_all(&lane->inflight_lane, lane->now);
    domains_update();
    for (uint32_t i = 0; i < lane->polled_count; i++)
        rings_look(lane->polled[i]);
    lane->crowded = lane->active_now > 2;
}

void round_serve(struct lane *lane)
{
    headroom_update(&lane->headroom, lane->now);
    for (uint32_t rank = 0; rank < ARRAY_SIZE(lane->polled_of); rank++) {
        for (uint32_t i = lane->polled_of[rank] ? lane->polled_count : 0; i > 0; i--) {
            if (class_rank(lane->polled[i - 1]->sched.entity.cls) == rank)
                session_round(lane->polled[i - 1]);
        }
    }
    if (any_contended() && !quiet_pauses(lane->now)) {
        waiting_serve(lane);
        lane->stay_awake = lane->stay_awake || any_free_soon(lane->now);
    }
}

/* The nap lasts a quarter of the shortest time that the work in flight of any domain or session
 * still needs, within NAP_SHORTEST_NS and NAP_LONGEST_NS. */
uint64_t round_nap(const struct lane *lane)
{
    uint64_t least = 4 * NAP_LONGEST_NS;

    for (uint32_t i = 0; i < domains_used(); i++) {
        uint64_t left = domain_left(domain_at(i), lane->now);
        if (sched_contended(domain_at(i)) && left < least)
            least = left;
    }
    for (uint32_t i = 0; i < lane->polled_count; i++) {
        const struct sched_entity *entity = &lane->polled[i]->sched.entity;
        uint64_t left = sched_left(entity->launches_ns, entity->done_ns, lane->now);
        if (left < least && (entity->launches > 0 || !sched_contended(domain_of(lane->polled[i]))))
            least = left;
    }
    return least / 4 < NAP_SHORTEST_NS ? NAP_SHORTEST_NS : least / 4;
}
