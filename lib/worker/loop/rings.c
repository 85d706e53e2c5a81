/*
 * rings.c - drains one session's rings in a scheduling round, on whichever lane has the session. In
 * the first pass of the round, rings_look takes the activity bits that the tenant has set. In the
 * second pass, rings_drain issues the streams' records to the device, as far as the scheduler
 * allows.
 */
#include "worker/loop/rings.h"

#include "common/qos_class.h"
#include "common/ring.h"
#include "common/util.h"
#include "worker/loop/user_round.h"
#include "worker/memory/user.h"
#include "worker/module/kernel_fault.h"
#include "worker/sched/class_traits.h"
#include "worker/sched/domain.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/submit/drain.h"
#include "worker/submit/stream.h"

#define DRAIN_BUDGET   64u /* the most records of a stream in a round */
/* the most records of a session in a round; other sessions wait meanwhile */
#define SESSION_BUDGET 128u
/* the most records of a latency stream in a round of a crowded lane: as many as one graph takes */
#define CROWDED_BUDGET 16u
/* sessions active within this time, a few round trips, count as a crowd */
#define CROWD_NS       30000u

/* Takes the activity bits that the tenant has set. Prefetches what rings_drain reads, so that the
 * cache lines of many sessions come from other CPUs at the same time. */
static void announced_take(struct session *session)
{
    const uint64_t activity =
        atomic_load_explicit(&session->client->activity, memory_order_relaxed);
    /* While the lane waits for the rest of an arrival, it leaves the activity word alone unless
     * another stream's bit is set, so that the word's cache line stays with the client. */
    if (!activity || (session->round.awaits && !(activity & ~session->round.pending)))
        return;
    /* seq_cst: must come before the tails are read; pairs with the client's store of its tail */
    session->round.fresh |= atomic_exchange(&session->client->activity, 0);
    session->round.pending |= session->round.fresh;
    session->poll.active_ns = session->lane->now;
    for (uint64_t left = session->round.pending & ~REQUEST_BIT; left; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        uint64_t head = session->submit.streams[index].head;
        __builtin_prefetch(&session->client->tail[index]);
        __builtin_prefetch(ring_at(session, index, head));
        __builtin_prefetch(ring_at(session, index, head + REC_ALIGN));
    }
}

void rings_look(struct session *session)
{
    struct lane *lane = session->lane;

    lane->polled_of[class_rank(session->sched.entity.cls)]++;
    announced_take(session);
    /* Recent activity counts, because tenants that alternate have records in different rounds. Bits
     * that announced_take has just taken count as activity now: a round of many sessions takes
     * longer than these times. */
    lane->active_now += lane->now - session->poll.active_ns < CROWD_NS;
    lane->active_lately += lane->now - session->poll.active_ns < LANE_LATELY_NS;
}

/* Returns how much one of the session's streams may issue to the device now. */
static struct sched_allowance allowance_of(const struct session *session, uint32_t index)
{
    struct sched_allowance allowance = sched_allowance(domain_of(session), &session->sched.entity);
    uint32_t count = inflight_count(session->submit.streams[index].inflight);
    uint32_t most = session->lane->quiet_wanted ? 2 : SCHED_STREAM_MAX;

    /* A stream with nothing on the device may issue one launch, because other streams of the
     * session may wait for its work. */
    if (count == 0 && allowance.launches == 0 && sched_allowed(&session->sched.entity))
        allowance = (struct sched_allowance){1, 1};
    /* A stream is refilled once it is half empty, so that launches go out in exec graphs. */
    if (count > most / 2)
        allowance.launches = 0;
    else if (allowance.launches > most - count)
        allowance.launches = most - count;
    if (allowance.launches > DRAIN_BUDGET)
        allowance.launches = DRAIN_BUDGET;
    return allowance;
}

/* Returns the streams that have records and are not paused. */
static uint64_t streams_ready(const struct session *session)
{
    return session->round.pending & ~REQUEST_BIT & ~session->jobs.paused_streams;
}

bool rings_allowed(const struct session *session)
{
    for (uint64_t left = streams_ready(session); left; left &= left - 1) {
        if (allowance_of(session, (uint32_t)__builtin_ctzll(left)).launches)
            return true;
    }
    return false;
}

/* Returns the lowest stream from number `first` on; if there is none, the lowest of all. */
static uint32_t stream_from(uint64_t streams, uint32_t first)
{
    uint64_t behind = streams >> first << first;

    return (uint32_t)__builtin_ctzll(behind ? behind : streams);
}

/* Returns how many records one of the session's streams may issue in this round. On a crowded lane,
 * each latency tenant has the beginning of its request on the device before any tenant has the rest
 * of its own, unless the request is issued as one graph. */
static uint32_t stream_budget(const struct session *session, const struct stream *stream)
{
    bool crowded = class_traits(session->sched.entity.cls).requests && session->lane->crowded &&
                   !stream->arrival.entire;

    return crowded && session->round.budget > CROWDED_BUDGET ? CROWDED_BUDGET
                                                             : session->round.budget;
}

/* Drains one of the session's streams within an allowance. Returns how many records were taken. */
static uint32_t ring_drain(struct session *session, uint32_t index,
                           struct sched_allowance allowance, enum drained *drained)
{
    uint32_t taken = 0;

    *drained = DRAINED_SOME;
    if (allowance.launches) {
        taken = stream_drain(session, index, allowance, drained);
        session->round.fresh &= ~(UINT64_C(1) << index);
        arrival_took(&session->submit.streams[index], taken);
    }
    if (*drained == DRAINED_ALL)
        session->round.pending &= ~(UINT64_C(1) << index);
    return taken;
}

/* Drains one of the session's streams in its turn. Returns RINGS_* bits. since: when the user's
 * last turn ended; NULL: there is only one user. */
static unsigned stream_turn(struct session *session, uint32_t index, uint64_t *since)
{
    const struct stream *stream = &session->submit.streams[index];
    struct sched_allowance allowance = allowance_of(session, index);
    enum drained drained;
    unsigned found = 0;

    if (allowance.launches && class_traits(stream->cls).requests &&
        arrival_awaited(session, index, allowance.launches)) {
        session->round.awaits = true;
        return 0;
    }
    const uint32_t most = stream_budget(session, stream);
    const bool cut = allowance.launches > most;
    if (cut)
        allowance.launches = most;
    const uint32_t taken = ring_drain(session, index, allowance, &drained);

    session->round.budget -= taken;
    session->round.stream_first = index + 1;
    if (taken > 0)
        found |= RINGS_TAKEN;
    if (drained == DRAINED_SOME && !(cut && taken == most))
        found |= RINGS_NO_ROOM;
    else if (drained == DRAINED_STALLED)
        found |= RINGS_STALLED;
    else if (drained == DRAINED_ELSEWHERE)
        found |= RINGS_ELSEWHERE;
    if (since && !user_round_goes_on(session, since))
        session->round.budget = 0;
    return found;
}

/* Asks the driver whether another session's kernels without a fence have ended. Whom the worker
 * blames for a fault must not depend on words that a tenant writes. Called before this session
 * issues work. */
static void by_word_ask(const struct session *session)
{
    struct session **other = &session->lane->inflight_lane.by_word;

    if (!*other || *other == session)
        return;
    if ((*other)->inflight.by_word)
        streams_idle(*other);
    if (!(*other)->inflight.by_word)
        *other = NULL;
}

unsigned rings_drain(struct session *session)
{
    const uint32_t first = session->round.stream_first;
    const bool several = users_several();
    uint64_t streams = streams_ready(session), since = several ? clock_ns() : 0;
    unsigned found = 0;

    if (several && !user_round_admits(session))
        return RINGS_SPENT;
    if (session->round.budget_round != session->lane->round) {
        session->round.budget_round = session->lane->round;
        session->round.budget = SESSION_BUDGET;
    }
    session->round.awaits = false;
    by_word_ask(session);
    kernel_fault_poll(session);
    session->lane->draining = session;
    while (streams && session->round.budget > 0) {
        const uint32_t index = stream_from(streams, first);

        streams &= ~(UINT64_C(1) << index);
        found |= stream_turn(session, index, several ? &since : NULL);
    }
    session->lane->draining = NULL;
    if (session->round.budget == 0 && session->round.pending & ~REQUEST_BIT)
        found |= RINGS_SPENT;
    else
        session->round.stream_first = 0;
    if (found & RINGS_TAKEN)
        session->poll.active_ns = session->poll.given_ns = session->lane->now;
    return found;
}

void rings_seen(struct session *session)
{
    for (uint64_t left = session->round.fresh & ~REQUEST_BIT; left; left &= left - 1) {
        const uint32_t index = (uint32_t)__builtin_ctzll(left);
        const struct stream *stream = &session->submit.streams[index];
        /* relaxed: the records are not read here; stream_drain checks the tail again */
        const uint64_t tail =
            atomic_load_explicit(&session->client->tail[index], memory_order_relaxed);

        if (ring_tail_valid(tail, stream->head))
            inflight_seen(stream->inflight, tail, session->lane->now);
    }
    session->round.fresh = 0;
}
