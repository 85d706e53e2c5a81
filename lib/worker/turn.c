/*
 * turn.c - a turn: what each session that is polled asks for and has for the device.
 *
 * Runs on the dispatcher. Requests become jobs, records go to the device as far as the scheduler
 * lets them: who has room goes at once, those of a higher class first; where several wait, one
 * after the other.
 */
#include "worker/turn.h"

#include <string.h>

#include "common/cpus.h"
#include "common/ring.h"
#include "common/util.h"
#include "worker/drain.h"
#include "worker/flight.h"
#include "worker/job.h"
#include "worker/lane.h"
#include "worker/lines.h"
#include "worker/parked.h"
#include "worker/polling.h"
#include "worker/report.h"
#include "worker/request.h"
#include "worker/route.h"
#include "worker/stream.h"

#define REQUEST_BIT (UINT64_C(1) << SEG_REQUEST_BIT)

#define DRAIN_BUDGET    64u     /* records of a stream a turn */
#define SESSION_BUDGET  128u    /* of all streams of a session: others wait meanwhile */
#define CROWDED_BUDGET  16u     /* of a latency stream, in a crowd: what one graph takes */
#define CROWD_NS        30000u  /* what "shortly before" means for a crowd: a few round trips */
#define HOT_NS          200000u /* a session stays polled so long after its last activity */
/* With many CPUs longer, for waking the thread costs the next record 100 to 300 us: so long after
 * the last work of a latency session, and of the others so long after work was given to the device
 * that it has not ended yet. With few, tenants have better use for them. */
#define HOT_LATENCY_NS  20000000u
#define HOT_WORK_NS     10000000u
#define NAP_SHORTEST_NS 50000u
#define NAP_LONGEST_NS  1000000u
#define NAP_NEVER_NS    200000u /* so long before the device is thought to be free, no nap */

/* As above, by the CPUs that there are. */
static struct {
    uint64_t hot_latency_ns, hot_work_ns;
} turn;

/* ---- Draining -------------------------------------------------------------------------------- */

/* What may go to the device of one of the session's streams now. */
struct sched_room turn_room(const struct session *session, uint32_t index)
{
    struct sched_room room = sched_room(line_of(session), &session->sched);
    uint32_t count = flight_count(&session->streams[index]);
    uint32_t most = session->lane->quiet_wanted ? 2 : SCHED_STREAM_MAX;

    /* A stream with nothing on the device can have one launch there: what another stream of the
     * session has there may wait for it. */
    if (count == 0 && room.launches == 0 && sched_allowed(&session->sched))
        room = (struct sched_room){1, 1};
    /* Refilled at half, so that what goes out goes in chains. */
    if (count > most / 2)
        room.launches = 0;
    else if (room.launches > most - count)
        room.launches = most - count;
    if (room.launches > DRAIN_BUDGET)
        room.launches = DRAIN_BUDGET;
    return room;
}

/* The first of these streams from `first` on, and around. */
static uint32_t stream_from(uint64_t streams, uint32_t first)
{
    uint64_t behind = streams >> first << first;

    return (uint32_t)__builtin_ctzll(behind ? behind : streams);
}

/* Records of one of its streams in this turn. Where several send requests at a time, each has the
 * begin of its own on the device before any has the rest, unless it is all one graph. */
static uint32_t stream_budget(const struct session *session, const struct stream *stream)
{
    bool crowded =
        session->sched.cls == GS_CLASS_LATENCY && session->lane->crowded && !stream->burst.whole;

    return crowded && session->budget > CROWDED_BUDGET ? CROWDED_BUDGET : session->budget;
}

static bool session_drain(struct session *session)
{
    const uint32_t first = session->stream_first;
    uint64_t streams = session->pending & ~REQUEST_BIT;
    bool progress = false, held = false;

    if (session->budget_turn != session->lane->round) {
        session->budget_turn = session->lane->round;
        session->budget = SESSION_BUDGET;
    }
    session->awaits = false;
    session->lane->draining = session;
    while (streams && session->budget > 0) {
        uint32_t index = stream_from(streams, first);
        struct stream *stream = &session->streams[index];
        struct sched_room room = turn_room(session, index);
        enum drained drained = DRAINED_SOME;

        streams &= ~(UINT64_C(1) << index);
        if (room.launches && burst_awaited(session, index, room.launches)) {
            session->awaits = true;
            continue;
        }
        uint32_t most = stream_budget(session, stream);
        bool cut = room.launches > most;
        if (cut)
            room.launches = most;
        uint32_t taken = room.launches ? stream_drain(session, index, room, &drained) : 0;

        burst_took(stream, taken);
        session->budget -= taken;
        session->stream_first = index + 1;
        progress = progress || taken > 0;
        held = held || (drained == DRAINED_SOME && !(cut && taken == most));
        if (drained == DRAINED_ALL)
            session->pending &= ~(UINT64_C(1) << index);
    }
    session->lane->draining = NULL;
    bool spent = session->budget == 0 && session->pending & ~REQUEST_BIT;
    if (spent) {
        session->tried = session->lane->round;
        session->lane->live = true;
    } else {
        session->stream_first = 0;
    }
    if (held)
        sched_wait(line_of(session), &session->sched, session->lane->now);
    else if (!spent) /* else nobody knows yet */
        sched_satisfied(line_of(session), &session->sched);
    return progress;
}

/* Its launches wait for their own kind, which end one after the other, and for normal ones. */
static uint64_t best_effort_ahead(const struct session *session)
{
    uint64_t all = sched_busy_ns(line_of(session));

    return session->sched.inflight_ns > all ? session->sched.inflight_ns : all;
}

/* The session drains, and notes whether it did. */
static bool session_serve(struct session *session)
{
    const bool drained = session_drain(session);

    /* What is awaited is as good as there: those who come next in this turn keep off. */
    if (session->sched.cls == GS_CLASS_LATENCY && (drained || session->awaits))
        reserve_note(&session->lane->reserve, &session->reserve, true, session->lane->now);
    session->lane->live = session->lane->live || session->awaits;
    if (!drained) {
        session->tried = session->lane->round;
        return false;
    }
    if (session->sched.cls == GS_CLASS_BEST_EFFORT)
        reserve_ahead(&session->lane->reserve, best_effort_ahead(session), session->lane->now);
    session->active_ns = session->lane->now;
    session->given_ns = session->lane->now;
    session->lane->busy = true;
    return true;
}

/* May any of its streams have something? */
static bool session_has_room(const struct session *session)
{
    for (uint64_t left = session->pending & ~REQUEST_BIT; left; left &= left - 1) {
        if (turn_room(session, (uint32_t)__builtin_ctzll(left)).launches)
            return true;
    }
    return false;
}

/* Those that wait in a line. */
struct waiting {
    struct session *first; /* of those that have room */
    struct session *full;  /* of those that have work in flight and can have no more; NULL: none */
};

static void first_of(const struct sched *line, struct session **best, struct session *session)
{
    if (!*best || sched_before(line, &session->sched, &(*best)->sched, session->lane->now))
        *best = session;
}

/* Has it as many kernels on the device as it may, which are thought to end? Copies, of which nobody
 * knows how long they take, and kernels that fill little keep nobody off. */
static bool session_full(const struct session *session)
{
    const struct sched_entity *entity = &session->sched;

    return entity->device_ns > 0 && entity->overdue_ns == 0 && sched_allowed(entity) &&
           entity->cls == GS_CLASS_NORMAL;
}

static void waiting_find(const struct lane *lane, struct waiting waiting[LINES_MAX])
{
    memset(waiting, 0, lines.used * sizeof(waiting[0]));
    for (uint32_t i = 0; i < lane->hot_count; i++) {
        struct session *session = lane->hot[i];
        const struct sched *line = line_of(session);
        uint64_t streams = session->pending & ~REQUEST_BIT;
        if (!session->sched.waiting || session->tried == session->lane->round || session->paused ||
            !streams || !sched_contended(line))
            continue;
        const bool room = session_has_room(session);
        if (!room && !session_full(session))
            continue;
        session->sched.deadline_ns = stream_deadline(session, (uint32_t)__builtin_ctzll(streams));
        struct waiting *in_line = &waiting[session->member.line];
        first_of(line, room ? &in_line->first : &in_line->full, session);
    }
}

/* May the first that has room be given something? One that is due before it and can have no more
 * in flight is to have it soon: it would wait for a long kernel of this one. */
static bool waiting_open(const struct sched *line, const struct waiting *waiting, uint64_t now)
{
    const struct sched_entity *first = &waiting->first->sched;
    struct sched_entity *full = waiting->full ? &waiting->full->sched : NULL;

    if (!full || first->cls != full->cls || !sched_before(line, full, first, now))
        return sched_open(line, first, now);
    if (!sched_may_pass(line, first, now))
        return false;
    sched_passed(full, first);
    return true;
}

/* Where several sessions wait in a line: one after the other, as long as the device is not full. */
static void waiting_serve(struct lane *lane)
{
    struct waiting waiting[LINES_MAX];
    bool served = true;

    while (served) {
        served = false;
        waiting_find(lane, waiting);
        for (uint32_t i = 0; i < lines.used; i++) {
            struct session *first = waiting[i].first;
            if (!first || !waiting_open(&lines.line[i], &waiting[i], lane->now))
                continue;
            uint32_t inflight = first->sched.inflight;
            session_serve(first);
            /* What is not in flight afterwards costs it nothing, so it would always be the first,
             * and this turn would not end before its tenant lets it. */
            if (first->sched.inflight <= inflight)
                first->tried = lane->round;
            served = true;
        }
    }
}

/* First pass of a turn: takes the activity word and fetches ahead what the second pass reads, so
 * that the other processor's cache lines of many sessions come at the same time. */
void turn_look(struct session *session)
{
    session->lane->hot_of[sched_rank(session->sched.cls)]++;
    /* In step, tenants come one a turn: what counts is who came lately. */
    if (session->lane->now - session->active_ns < CROWD_NS)
        session->lane->active++;
    session->lane->lately += session->lane->now - session->active_ns < LANE_LATELY_NS;
    const uint64_t activity =
        atomic_load_explicit(&session->client->activity, memory_order_relaxed);
    /* A client in the middle of a burst has the word's line for itself, until that is taken. */
    if (!activity || (session->awaits && !(activity & ~session->pending)))
        return;
    /* seq_cst: taken before the tails are read; pairs with the client's store of its tail */
    session->pending |= atomic_exchange(&session->client->activity, 0);
    session->active_ns = session->lane->now;
    for (uint64_t left = session->pending & ~REQUEST_BIT; left; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        uint64_t head = session->streams[index].head;
        __builtin_prefetch(&session->client->tail[index]);
        __builtin_prefetch(ring_at(session, index, head));
        __builtin_prefetch(ring_at(session, index, head + REC_ALIGN));
    }
}

/* Is it about to have something, as its tenant waits for what the device has of it? Copies have no
 * mark and some launches none, so the tenant's own words are asked too: falsified, they keep it
 * polled until the driver says better (device_watch), and not beyond HOT_WORK_NS from its last
 * record. While latency work is on the device its session is always polled, so that best effort
 * keeps off. */
static bool session_at_work(const struct session *session)
{
    const bool latency = session->sched.cls == GS_CLASS_LATENCY;

    if (session->awaits && !session->paused)
        return true;
    if (!latency && (session->pending & ~REQUEST_BIT ||
                     session->lane->now - session->given_ns >= turn.hot_work_ns))
        return false;
    return session->flying || !session_seems_idle(session);
}

static uint64_t hot_time(const struct session *session)
{
    return session->sched.cls == GS_CLASS_LATENCY ? turn.hot_latency_ns : HOT_NS;
}

/* Second pass. */
static void session_turn(struct session *session)
{
    bool at_work = session_at_work(session), latency = session->sched.cls == GS_CLASS_LATENCY;
    bool active = session->reports_open > 0 || at_work;

    if (latency || session->reserve.listed)
        reserve_note(&session->lane->reserve, &session->reserve, latency && at_work,
                     session->lane->now);
    if (session->pending && !session->paused) {
        if (session->pending & REQUEST_BIT && !session->job &&
            session->lane->now >= session->requests_from_ns) {
            session->pending &= ~REQUEST_BIT;
            session->job = request_take(session);
            if (session->job)
                job_begin(session->job);
            active = true;
        }
        if (session->paused || parked_hold(session->lane->now))
            active = true;
        else if (sched_contended(line_of(session)) && session->sched.cls != GS_CLASS_LATENCY &&
                 session->pending & ~REQUEST_BIT)
            sched_wait(line_of(session), &session->sched,
                       session->lane->now); /* it has its turn with those that wait */
        else
            active = session_serve(session) || active || !session->sched.waiting;
    }
    if (session->reports_open)
        reports_poll(session);
    if (active)
        session->active_ns = session->lane->now;
    else if (session->lane->now - session->active_ns > hot_time(session)) {
        if (session->pending & ~REQUEST_BIT)
            return; /* it waits for the device, which is looked at */
        session_cool(session);
        return;
    }
    session->lane->live = true;
}

void turn_init(void)
{
    bool many = cpus_to_spare();

    turn.hot_latency_ns = many ? HOT_LATENCY_NS : HOT_NS;
    turn.hot_work_ns = many ? HOT_WORK_NS : 0;
}

/* How long what is in flight is thought to keep the line's part of the device. */
static uint64_t line_left(const struct sched *line, uint64_t now)
{
    return sched_left(sched_busy_ns(line), line->done_ns, now);
}

/* Is one of them thought to be free for the next soon? Not when that should have been long ago. */
static bool any_free_soon(uint64_t now)
{
    for (uint32_t i = 0; i < lines.used; i++) {
        const struct sched *line = &lines.line[i];
        if (line->device_ns > 0 && line_left(line, now) < NAP_NEVER_NS &&
            now < line->done_ns + sched_busy_ns(line) + NAP_NEVER_NS)
            return true;
    }
    return false;
}

/* Does any session wait for another? */
static bool any_contended(void)
{
    for (uint32_t i = 0; i < lines.used; i++) {
        if (sched_contended(&lines.line[i]))
            return true;
    }
    return false;
}

void turn_policy(struct lane *lane)
{
    const struct sm_mask share = sm_mask_of(worker.policy.reserve_mask[0]);

    lane->reserve.share_sms = sm_mask_count(&share);
}

/* One turn of all that are polled, those of a higher class first. */
void turn_take(struct lane *lane)
{
    lane->round++;
    lane->live = false;
    lane->quiet_wanted = parked_pressing();
    lane->active = lane->lately = 0;
    memset(lane->hot_of, 0, sizeof(lane->hot_of));
    flights_poll(&lane->flights, lane->now);
    lines_look();
    for (uint32_t i = 0; i < lane->hot_count; i++)
        turn_look(lane->hot[i]);
    lane->crowded = lane->active > 2;
    reserve_look(&lane->reserve, lane->now);
    for (uint32_t rank = 0; rank < ARRAY_SIZE(lane->hot_of); rank++) {
        for (uint32_t i = lane->hot_of[rank] ? lane->hot_count : 0; i > 0; i--) {
            if (sched_rank(lane->hot[i - 1]->sched.cls) == rank)
                session_turn(lane->hot[i - 1]);
        }
    }
    if (any_contended() && !parked_hold(lane->now)) {
        waiting_serve(lane);
        lane->live = lane->live || any_free_soon(lane->now);
    }
}

/* A quarter of what the one that needs it first still has on the device. */
uint64_t turn_nap(const struct lane *lane)
{
    uint64_t least = 4 * NAP_LONGEST_NS;

    for (uint32_t i = 0; i < lines.used; i++) {
        uint64_t left = line_left(&lines.line[i], lane->now);
        if (sched_contended(&lines.line[i]) && left < least)
            least = left;
    }
    for (uint32_t i = 0; i < lane->hot_count; i++) {
        const struct sched_entity *entity = &lane->hot[i]->sched;
        uint64_t left = sched_left(entity->inflight_ns, entity->done_ns, lane->now);
        if (left < least && (entity->inflight > 0 || !sched_contended(line_of(lane->hot[i]))))
            least = left;
    }
    return least / 4 < NAP_SHORTEST_NS ? NAP_SHORTEST_NS : least / 4;
}
