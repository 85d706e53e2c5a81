/*
 * inflight.c - the inflight tracker: knows which work is on the device, how long it takes, and when
 * it ended.
 *
 * How far ahead of the device a tenant may be, and how much of the device it has had, must not
 * depend on words that a tenant can write. So the kernel that writes a completion word at the end
 * of a batch also writes a timestamped completion fence, called the fence here, into the worker's
 * own memory (fence.h), in one store of 8 bytes.
 *
 * The completion write of the device's front end gives the shortest round trip, for a tenant that
 * launches and waits. It cannot hold the time, and would cost 0.2 us more with a second word. So it
 * is used without a fence, if the session has nothing else in flight, the kernel is known to be
 * short, and the tenant's own completion word says that the kernel before has ended. Every 128th
 * kernel has a fence, so a tenant that falsifies its completion words gets 128 short kernels ahead,
 * once. Only a later fence and the driver tell whether such kernels have ended (by_word); the lane
 * asks the driver before another of its sessions issues work (rings.c).
 *
 * A span (span.h) is the work that ends with one fence.
 */
#include "worker/sched/inflight.h"

#include <stdlib.h>

#include "common/link.h"
#include "common/util.h"
#include "worker/sched/completed.h"
#include "worker/sched/domain.h"
#include "worker/sched/estimate.h"
#include "worker/sched/fence.h"
#include "worker/sched/lane.h"
#include "worker/sched/latency.h"
#include "worker/sched/schedule.h"
#include "worker/sched/span.h"
#include "worker/sched/trace.h"
#include "worker/sched/widest.h"

#define WITHOUT_FENCE_MAX 128u /* the most records without a fence between two fences */
/* For how long kernels may go without a fence while neither a fence nor the driver confirms that
 * earlier ones have ended. */
#define BY_WORD_NS        5000000u
/* A span is overdue once it has run for this long and for four times its expected time. */
#define OVERDUE_NS        50000000u
/* How often an overdue span is charged while it runs. */
#define CHARGE_NS         100000000u

struct inflight {
    struct session *session;
    uint32_t index;                /* the stream's index */
    const _Atomic uint64_t *fence; /* the stream's fence; the device writes it */
    size_t number;                 /* the fence's number (fence.h) */
    CUdeviceptr address;           /* the fence's device address */
    uint64_t looked;               /* the value of the fence when it was last read */
    uint32_t next;                 /* the count in the next fence */
    uint32_t first, last;          /* free-running indices of `ring` */
    uint32_t count;                /* records of the spans in `ring` */
    uint32_t seen;                 /* spans that are seen to have ended but not accounted for yet */
    uint64_t seen_ns;              /* when the last of these ended */
    uint32_t width;                /* the width of the widest span in flight that is not overdue */
    uint32_t without_fence;        /* records without a fence since the last fence */
    uint64_t end_ns;               /* when the last span accounted for ended */
    uint64_t graph_ns;             /* how long the stream's graphs ran lately; 0: never measured */
    struct latency_stamps stamps;  /* when the lane saw the records that are not issued yet */
    struct inflight_span open;     /* the work issued since the last fence */
    struct inflight_span ring[SPANS_MAX];
    struct widest widest; /* the widest of the spans in `ring` that are not overdue */
};

size_t inflight_number(const struct inflight *inflight)
{
    return inflight->number;
}

struct inflight *inflight_new(struct session *session, uint32_t index)
{
    struct inflight *inflight = calloc(1, sizeof(*inflight));

    if (!inflight)
        return NULL;
    inflight->session = session;
    inflight->index = index;
    session->inflight.stream[index] = inflight;
    inflight->number = (size_t)session->slot * FENCES_OF_SLOT + index;
    inflight->fence = fence_at(inflight->number);
    inflight->address = fence_address(inflight->number);
    /* The count continues from the last fence of the stream that had this number before. */
    inflight->next = (uint32_t)((atomic_load_explicit(inflight->fence, memory_order_relaxed) + 1) &
                                FENCE_SEQUENCE_MASK);
    return inflight;
}

void inflight_free(struct inflight *inflight)
{
    if (inflight)
        inflight->session->inflight.stream[inflight->index] = NULL;
    free(inflight);
}

CUdeviceptr inflight_fence_address(const struct inflight *inflight)
{
    return inflight->address;
}

uint64_t inflight_fence_next(const struct inflight *inflight)
{
    return inflight->next;
}

uint32_t inflight_count(const struct inflight *inflight)
{
    return inflight ? inflight->count : 0;
}

uint32_t inflight_open_count(const struct inflight *inflight)
{
    return inflight->open.records;
}

bool inflight_open_others(const struct inflight *inflight)
{
    return inflight->open.others;
}

bool inflight_open_kernels(const struct inflight *inflight)
{
    return inflight->open.work.ns > 0;
}

/* Returns whether the span has kernels. A graph counts as having some. */
static bool span_has_kernels(const struct inflight_span *span)
{
    return span->waves > 0;
}

bool inflight_has_kernels(const struct inflight *inflight)
{
    bool has = span_has_kernels(&inflight->open);

    for (uint32_t i = inflight->first + inflight->seen; i != inflight->last; i++)
        has = has || span_has_kernels(&inflight->ring[i % SPANS_MAX]);
    return has;
}

/* ---- Issued work ----------------------------------------------------------------------------- */

uint64_t inflight_guess_graph(const struct inflight *inflight)
{
    return inflight->graph_ns ? inflight->graph_ns : SCHED_UNKNOWN_NS;
}

void inflight_seen(struct inflight *inflight, uint64_t position, uint64_t now)
{
    if (inflight)
        latency_seen(&inflight->stamps, position, now);
}

void inflight_issue(struct inflight *inflight)
{
    if (inflight->open.records == 0)
        inflight->open.dispatch_ns = clock_ns();
}

/* Notes when the launches were seen. All work of a span counts as issued at the span's beginning,
 * so that the clock need not be read for each driver call. */
static void open_seen(struct inflight *inflight, const struct launch *launches, uint32_t count)
{
    latency_issued(inflight->session, &inflight->stamps, &inflight->open.seen, launches, count,
                   inflight->open.dispatch_ns);
}

void inflight_add(struct inflight *inflight, const struct launch *launches, uint32_t count)
{
    span_add_launches(&inflight->open, launches, count);
    open_seen(inflight, launches, count);
}

void inflight_add_graph(struct inflight *inflight, uint64_t position)
{
    span_add_graph(&inflight->open, inflight->session->grant.partition,
                   inflight_guess_graph(inflight));
    open_seen(inflight, &(struct launch){.end = position}, 1);
}

void inflight_add_event(struct inflight *inflight)
{
    span_add_event(&inflight->open);
}

void inflight_add_other(struct inflight *inflight)
{
    span_add_other(&inflight->open);
}

/* Tells the scheduler the width of the stream's widest span, if it has changed. */
static void width_update(struct inflight *inflight)
{
    struct session *session = inflight->session;
    const uint32_t width = widest_width(&inflight->widest);

    if (width == inflight->width)
        return;
    sched_width(domain_of(session), &session->sched.entity, inflight->width, width);
    inflight->width = width;
}

/* Returns whether all sessions of the domain run on one part of the device with at most `sms`
 * SMs. */
static bool domain_within(const struct sched *domain, uint32_t sms)
{
    return domain->sms > 0 && domain->sms <= sms;
}

void inflight_fence_follows(struct inflight *inflight)
{
    struct session *session = inflight->session;
    uint32_t sequence = inflight->next;

    inflight->next = (uint32_t)((sequence + 1) & FENCE_SEQUENCE_MASK);
    if (inflight->open.records == 0)
        return; /* the work before this fence has had one already */
    struct inflight_span *span = &inflight->ring[inflight->last++ % SPANS_MAX];
    *span = inflight->open;
    if (span->filling > 0 && domain_within(domain_of(session), span->timeline_sms))
        span->work.wide = span->filling;
    span->sequence = sequence;
    inflight->open = (struct inflight_span){0};
    inflight->count += span->records;
    inflight->without_fence = 0;
    session->inflight.awaiting_fence |= UINT64_C(1) << inflight->index;
    if (!session->inflight.listed) {
        session->inflight.listed = true;
        session->inflight.next = session->lane->inflight_lane.first;
        session->lane->inflight_lane.first = session;
    }
    sched_issued(domain_of(session), &session->sched.entity, &span->work, span->dispatch_ns);
    widest_add(&inflight->widest, inflight->last - 1, span->work.width);
    width_update(inflight);
}

/* Notes that only the completion word tells when the open span's kernels have ended. */
static void by_word_note(struct inflight *inflight)
{
    struct session *session = inflight->session;

    if (!session->inflight.by_word)
        session->inflight.by_word_ns = inflight->open.dispatch_ns;
    session->inflight.by_word |= UINT64_C(1) << inflight->index;
    session->lane->inflight_lane.by_word = session;
}

static void by_word_end(struct inflight *inflight)
{
    inflight->session->inflight.by_word &= ~(UINT64_C(1) << inflight->index);
}

void inflight_no_fence_follows(struct inflight *inflight)
{
    struct session *session = inflight->session;
    const struct inflight_span open = inflight->open;

    if (span_of_kernels(&open))
        by_word_note(inflight);
    inflight->open = (struct inflight_span){0};
    inflight->without_fence += open.records;
    if (!span_of_kernels(&open))
        return; /* copies use no SM */
    span_charge_ns(session, &open, open.work.ns);
    latency_ended(session, &open.seen, open.dispatch_ns + open.work.ns);
    sched_issued(domain_of(session), &session->sched.entity, &open.work, open.dispatch_ns);
    sched_done(domain_of(session), &session->sched.entity, &open.work,
               span_vtime_ns(&open, open.work.ns), open.dispatch_ns);
}

bool inflight_needs_no_fence(const struct inflight *inflight, uint64_t signalled,
                             const struct launch *launch)
{
    const struct session *session = inflight->session;

    if (launch ? inflight->open.records > 0 : inflight->open.work.ns > 0)
        return false;
    if (inflight->without_fence >= WITHOUT_FENCE_MAX || session->lane->quiet_wanted ||
        trace_of(session))
        return false; /* a trace needs a fence's time for each end */
    /* Consecutive copies go without a fence: a completing kernel between two copies would cost the
     * device more than the way from one engine to another and back. While no fence is on its way,
     * there are at most WITHOUT_FENCE_MAX of them. */
    if (!launch && inflight->first == inflight->last)
        return true;
    if (inflight->count > 0 || session->sched.entity.launches > 0)
        return false;
    if (stream_completed(session, inflight->index) < signalled)
        return false;
    if (session->inflight.by_word && session->lane->now > session->inflight.by_word_ns + BY_WORD_NS)
        return false;
    return !launch || (estimate_short(launch) && !launch->deadline_ns);
}

/* ---- Ended work ------------------------------------------------------------------------------ */

static void span_end(struct inflight *inflight, struct inflight_span *span, uint64_t end)
{
    struct session *session = inflight->session;
    uint64_t begin = span->dispatch_ns > inflight->end_ns ? span->dispatch_ns : inflight->end_ns;
    uint64_t there = end > begin ? end - begin : 0, ran;

    span_charge(session, span, begin, end);
    ran = span->charged;
    if (span->overdue)
        sched_overdue_end(domain_of(session), &session->sched.entity, &span->work);
    inflight->end_ns = end;
    inflight->count -= span->records;
    widest_end(&inflight->widest, inflight->first);
    width_update(inflight);
    inflight->first++;
    span_learn(session, span, ran, there, &inflight->graph_ns);
    latency_ended(session, &span->seen, end);
    if (span->deadline_ns && end > span->deadline_ns)
        link_stat_add(&session->stats->deadlines_missed, 1);
    if (trace_of(session))
        trace_ended(session, inflight->index, span->sequence, begin, end, ran);
    sched_done(domain_of(session), &session->sched.entity, &span->work, span_vtime_ns(span, ran),
               end);
    if (!session->sched.polled && session->sched.entity.launches == 0)
        domains_idle();
}

/* Returns when the first span that has not ended began to run, or could have begun. */
static uint64_t running_since(const struct inflight *inflight)
{
    const struct inflight_span *running =
        &inflight->ring[(inflight->first + inflight->seen) % SPANS_MAX];
    const uint64_t before = inflight->seen ? inflight->seen_ns : inflight->end_ns;

    return running->dispatch_ns > before ? running->dispatch_ns : before;
}

uint64_t inflight_since(const struct session *session)
{
    uint64_t since = session->inflight.by_word ? session->inflight.by_word_ns + BY_WORD_NS : 0;

    for (uint64_t left = session->inflight.awaiting_fence; left; left &= left - 1) {
        const struct inflight *inflight = session->inflight.stream[__builtin_ctzll(left)];
        if (!inflight || inflight->first + inflight->seen == inflight->last)
            continue;
        const uint64_t began = running_since(inflight);
        since = !since || began < since ? began : since;
    }
    return since;
}

/* Marks all unfinished spans of the stream as overdue if the first of them has run for too long.
 * Its kernel may be waiting for data from another session, so no session waits for this span or
 * later ones. */
static void overdue_note(struct inflight *inflight, uint64_t now)
{
    struct session *session = inflight->session;
    const uint32_t first = inflight->first + inflight->seen;
    struct inflight_span *running = &inflight->ring[first % SPANS_MAX];

    if (first == inflight->last || now < running->dispatch_ns + OVERDUE_NS)
        return;
    uint64_t since = running_since(inflight);
    if (running->overdue && now >= since + CHARGE_NS && now >= running->charged_ns + CHARGE_NS)
        span_charge(session, running, since, now);
    if (inflight->ring[(inflight->last - 1) % SPANS_MAX].overdue || now < since + OVERDUE_NS ||
        now - since < 4 * running->work.ns)
        return;
    for (uint32_t i = first; i != inflight->last; i++) {
        struct inflight_span *span = &inflight->ring[i % SPANS_MAX];
        if (!span->overdue)
            sched_overdue(domain_of(session), &session->sched.entity, &span->work);
        span->overdue = true;
    }
    widest_clear(&inflight->widest);
    width_update(inflight);
}

/* Accounts for all spans of the stream that are seen to have ended. The last one's fence has
 * overwritten the others', so the time is divided among the spans in proportion to their expected
 * times. A span that was charged while it was overdue does not end before its last charge. */
static void inflight_end(struct inflight *inflight)
{
    const struct inflight_span *oldest = &inflight->ring[inflight->first % SPANS_MAX];
    const uint64_t charged_ns = oldest->charged_ns, end = inflight->seen_ns;
    const uint64_t begin =
        oldest->dispatch_ns > inflight->end_ns ? oldest->dispatch_ns : inflight->end_ns;
    const double all = end > begin ? (double)(end - begin) : 0;
    uint64_t guessed = 0, before = 0;

    for (uint32_t i = 0; i < inflight->seen; i++)
        guessed += inflight->ring[(inflight->first + i) % SPANS_MAX].work.ns;
    while (inflight->seen > 0) {
        struct inflight_span *span = &inflight->ring[inflight->first % SPANS_MAX];
        uint64_t span_end_ns = end;

        inflight->seen--;
        before += span->work.ns;
        if (inflight->seen > 0 && guessed > 0) {
            span_end_ns = begin + (uint64_t)(all * (double)before / (double)guessed);
            span_end_ns = span_end_ns > charged_ns ? span_end_ns : charged_ns;
        }
        span_end(inflight, span, span_end_ns);
    }
    /* kernels without a fence were issued while the ring was empty, so they have ended too */
    by_word_end(inflight);
    if (inflight->first == inflight->last)
        inflight->session->inflight.awaiting_fence &= ~(UINT64_C(1) << inflight->index);
}

/* Accounts for the streams whose wide work is seen to have ended, in the order of the ends, because
 * the work that ended first had the device first. */
static void inflight_end_all(struct inflight_lane *tracker)
{
    while (tracker->ended_count > 0) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < tracker->ended_count; i++) {
            if (tracker->ended[i].when < tracker->ended[first].when)
                first = i;
        }
        struct inflight *inflight = tracker->ended[first].inflight;
        tracker->ended[first] = tracker->ended[--tracker->ended_count];
        inflight_end(inflight);
    }
}

/* Reads the stream's fence, and accounts for the spans that have ended. Leaves streams with ended
 * wide spans to inflight_end_all, because the time of these depends on the ends of other sessions'
 * spans. */
static void inflight_look(struct inflight *inflight)
{
    struct inflight_lane *tracker = &inflight->session->lane->inflight_lane;
    /* acquire: makes visible what the device wrote before the fence */
    uint64_t fence = atomic_load_explicit(inflight->fence, memory_order_acquire);
    const struct inflight_span *last = NULL;
    bool wide = false;

    if (fence == inflight->looked)
        return; /* no later span can have ended */
    inflight->looked = fence;
    while (inflight->first + inflight->seen != inflight->last) {
        const struct inflight_span *span =
            &inflight->ring[(inflight->first + inflight->seen) % SPANS_MAX];
        if (((fence - span->sequence) & FENCE_SEQUENCE_MASK) > FENCE_SEQUENCE_MASK / 2)
            break;
        last = span;
        wide = wide || span_wide(span);
        inflight->seen++;
    }
    if (!last)
        return;
    inflight->seen_ns =
        device_clock_host_ns(&tracker->clock, fence >> FENCE_SEQUENCE_BITS, last->dispatch_ns);
    if (!wide) {
        inflight_end(inflight);
        return;
    }
    if (tracker->ended_count == INFLIGHT_ENDED_MAX)
        inflight_end_all(tracker);
    tracker->ended[tracker->ended_count++] = (struct inflight_ended){inflight->seen_ns, inflight};
}

static void session_look(struct session *session, uint64_t now)
{
    for (uint64_t left = session->inflight.awaiting_fence; left; left &= left - 1) {
        struct inflight *inflight = session->inflight.stream[__builtin_ctzll(left)];
        inflight_look(inflight);
        overdue_note(inflight, now);
    }
}

/* Reads all fences before accounting for any wide span, because only all ends together tell which
 * session had the device when. */
void inflight_poll_all(struct inflight_lane *inflight_lane, uint64_t now)
{
    struct session **link = &inflight_lane->first;

    while (*link) {
        struct session *session = *link;
        session_look(session, now);
        if (session->inflight.awaiting_fence) {
            link = &session->inflight.next;
        } else {
            *link = session->inflight.next;
            session->inflight.listed = false;
        }
    }
    inflight_end_all(inflight_lane);
}

void inflight_settle(struct inflight *inflight)
{
    if (!inflight)
        return;
    by_word_end(inflight);
    if (inflight->first == inflight->last)
        return;
    const uint64_t now = clock_ns();
    inflight_poll_all(&inflight->session->lane->inflight_lane, now);
    while (inflight->first != inflight->last)
        span_end(inflight, &inflight->ring[inflight->first % SPANS_MAX], now);
    inflight->session->inflight.awaiting_fence &= ~(UINT64_C(1) << inflight->index);
}

/* Takes the session out of its lane's list. */
static void unlist(struct session *session)
{
    struct session **link = &session->lane->inflight_lane.first;

    while (session->inflight.listed && *link != session)
        link = &(*link)->inflight.next;
    if (session->inflight.listed)
        *link = session->inflight.next;
    session->inflight.listed = false;
    if (session->lane->inflight_lane.by_word == session)
        session->lane->inflight_lane.by_word = NULL;
}

void inflight_remove(struct session *session)
{
    unlist(session);
    session->inflight.awaiting_fence = 0;
    sched_remove(domain_of(session), &session->sched.entity);
    domains_remove(session);
}

void inflight_lane_leave(struct session *session)
{
    inflight_poll_all(&session->lane->inflight_lane, clock_ns());
    unlist(session);
}

void inflight_lane_enter(struct session *session)
{
    if (!session->inflight.awaiting_fence)
        return;
    session->inflight.listed = true;
    session->inflight.next = session->lane->inflight_lane.first;
    session->lane->inflight_lane.first = session;
}
