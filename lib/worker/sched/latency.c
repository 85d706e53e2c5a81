/*
 * latency.c - measures how long launches wait and how long they take.
 *
 * A launch is seen when its lane finds its record in the ring: in the first round after the tenant
 * has set the stream's activity bit. Its queue wait lasts from then to the driver call that issues
 * it, and its latency from then to the fence that signals its end. Words that the tenant writes
 * (its time of submission, completion words) do not count.
 *
 * A stamp says up to which position of a ring the lane had seen records at which time. When there
 * are more stamps than can be kept, the two that are nearest in time are merged, with the older
 * time. So a time is measured too long by a seventh of the oldest record's wait at most, and never
 * too short. A span, whose launches end with one fence, likewise distinguishes only a few times.
 *
 * All of this is arithmetic in the worker's own memory, a few nanoseconds per launch.
 */
#include "worker/sched/latency.h"

#include <string.h>

#include "common/histogram.h"
#include "common/link.h"
#include "worker/partition/kernel_launch.h"
#include "worker/session_parts.h"

/* Makes room for one more stamp. */
static void stamps_squeeze(struct latency_stamps *stamps)
{
    struct latency_stamp *stamp = stamps->stamp;
    uint32_t nearest = 1;

    if (stamps->first > 0) {
        stamps->last -= stamps->first;
        memmove(stamp, stamp + stamps->first, stamps->last * sizeof(*stamp));
        stamps->first = 0;
        return;
    }
    for (uint32_t i = 2; i < LATENCY_STAMPS; i++) {
        if (stamp[i].ns - stamp[i - 1].ns < stamp[nearest].ns - stamp[nearest - 1].ns)
            nearest = i;
    }
    stamp[nearest - 1].position = stamp[nearest].position;
    stamps->last--;
    memmove(&stamp[nearest], &stamp[nearest + 1], (stamps->last - nearest) * sizeof(*stamp));
}

void latency_seen(struct latency_stamps *stamps, uint64_t position, uint64_t now)
{
    if (stamps->first != stamps->last && position <= stamps->stamp[stamps->last - 1].position)
        return;
    if (stamps->last == LATENCY_STAMPS)
        stamps_squeeze(stamps);
    stamps->stamp[stamps->last++] = (struct latency_stamp){position, now};
}

static void histogram_add(struct link_histogram *histogram, uint64_t ns, uint64_t launches)
{
    link_stat_add(&histogram->count[histogram_bucket(ns)], launches);
    link_stat_add(&histogram->sum_ns, ns * launches);
}

/* Returns how many of the launches the stamp covers, at least the first one. */
static uint32_t covered(const struct latency_stamp *stamp, const struct launch *launches,
                        uint32_t count)
{
    uint32_t some = 1;

    if (launches[count - 1].end <= stamp->position)
        return count;
    while (launches[some].end <= stamp->position)
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

void latency_issued(const struct session *session, struct latency_stamps *stamps,
                    struct latency_span *span, const struct launch *launches, uint32_t count,
                    uint64_t now)
{
    if (!worker->policy.accounting)
        return;
    while (count > 0) {
        uint64_t seen = now;
        uint32_t some = count;

        while (stamps->first != stamps->last &&
               stamps->stamp[stamps->first].position < launches->end)
            stamps->first++;
        if (stamps->first == stamps->last) {
            stamps->first = stamps->last = 0;
        } else {
            const struct latency_stamp *stamp = &stamps->stamp[stamps->first];

            some = covered(stamp, launches, count);
            seen = stamp->ns < now ? stamp->ns : now;
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
