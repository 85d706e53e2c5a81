/*
 * latency.c - how long launches wait and how long they take.
 *
 * A launch is seen when its lane finds its record in the ring: the first round after the tenant has
 * set the stream's activity bit. It waits from there to the driver call that gives it to the device
 * (queue wait), and its latency goes on to the fence that signals its end. What a tenant's own
 * words say, its time of submission or its completion words, counts for nothing here.
 *
 * A mark says up to which position of a ring the lane had seen records at a time. Where more marks
 * come than are kept, the two that are nearest become one with the older time. So a time is
 * counted too long by a seventh of the oldest record's wait at most, and never too short. A span,
 * whose launches end with one fence, tells apart few times likewise.
 *
 * All of it is arithmetic in the worker's own memory, a few nanoseconds a launch.
 */
#include "worker/sched/latency.h"

#include <string.h>

#include "common/histogram.h"
#include "common/link.h"
#include "worker/partition/kernel_launch.h"
#include "worker/session_parts.h"

/* Makes room for one mark more. */
static void marks_squeeze(struct latency_marks *marks)
{
    struct latency_mark *mark = marks->mark;
    uint32_t nearest = 1;

    if (marks->first > 0) {
        marks->last -= marks->first;
        memmove(mark, mark + marks->first, marks->last * sizeof(*mark));
        marks->first = 0;
        return;
    }
    for (uint32_t i = 2; i < LATENCY_MARKS; i++) {
        if (mark[i].ns - mark[i - 1].ns < mark[nearest].ns - mark[nearest - 1].ns)
            nearest = i;
    }
    mark[nearest - 1].position = mark[nearest].position;
    marks->last--;
    memmove(&mark[nearest], &mark[nearest + 1], (marks->last - nearest) * sizeof(*mark));
}

void latency_seen(struct latency_marks *marks, uint64_t position, uint64_t now)
{
    if (marks->first != marks->last && position <= marks->mark[marks->last - 1].position)
        return;
    if (marks->last == LATENCY_MARKS)
        marks_squeeze(marks);
    marks->mark[marks->last++] = (struct latency_mark){position, now};
}

static void histogram_add(struct link_histogram *histogram, uint64_t ns, uint64_t launches)
{
    link_stat_add(&histogram->count[histogram_bucket(ns)], launches);
    link_stat_add(&histogram->sum_ns, ns * launches);
}

/* How many of the launches the mark covers; at least the first. */
static uint32_t covered(const struct latency_mark *mark, const struct launch *launches,
                        uint32_t count)
{
    uint32_t some = 1;

    if (launches[count - 1].end <= mark->position)
        return count;
    while (launches[some].end <= mark->position)
        some++;
    return some;
}

static void span_add(struct latency_span *span, uint64_t seen, uint32_t launches)
{
    if (span->count == 0 ||
        (seen != span->seen_ns[span->count - 1] && span->count < LATENCY_SEEN)) {
        span->seen_ns[span->count] = seen;
        span->launches[span->count++] = 0;
    }
    span->launches[span->count - 1] += launches;
}

void latency_issued(const struct session *session, struct latency_marks *marks,
                    struct latency_span *span, const struct launch *launches, uint32_t count,
                    uint64_t now)
{
    if (!worker->policy.accounting)
        return;
    while (count > 0) {
        uint64_t seen = now;
        uint32_t some = count;

        while (marks->first != marks->last && marks->mark[marks->first].position < launches->end)
            marks->first++;
        if (marks->first == marks->last) {
            marks->first = marks->last = 0;
        } else {
            const struct latency_mark *mark = &marks->mark[marks->first];

            some = covered(mark, launches, count);
            seen = mark->ns < now ? mark->ns : now;
        }
        histogram_add(&session->stats->wait, now - seen, some);
        span_add(span, seen, some);
        link_stat_add(&session->stats->depth, some);
        launches += some;
        count -= some;
    }
}

void latency_ended(const struct session *session, const struct latency_span *span, uint64_t end)
{
    for (uint32_t i = 0; i < span->count; i++) {
        const uint64_t seen = span->seen_ns[i];

        histogram_add(&session->stats->latency, end > seen ? end - seen : 0, span->launches[i]);
        link_stat_add(&session->stats->depth, -(uint64_t)span->launches[i]);
    }
}
