/*
 * widest.h - the widest of the spans in a stream's queue. Kept are only the spans that are wider
 * than all behind them, since the others will never be the widest. The session's lane.
 */
#ifndef GS_WORKER_SCHED_WIDEST_H
#define GS_WORKER_SCHED_WIDEST_H

#include <stdint.h>

#include "worker/sched/schedule.h"

#define SPANS_MAX (2 * SCHED_STREAM_MAX) /* spans in flight; each has a launch or more */

/* All zero: no span. */
struct widest {
    uint32_t first, last; /* free-running indices of `kept`; the first is the widest */
    struct {
        uint32_t span, width; /* span: its free-running number in the queue */
    } kept[SPANS_MAX];
};

/* The width of the widest span; 0: there is none. */
static inline uint32_t widest_width(const struct widest *widest)
{
    return widest->first != widest->last ? widest->kept[widest->first % SPANS_MAX].width : 0;
}

/* Adds a span behind all others. */
static inline void widest_add(struct widest *widest, uint32_t span, uint32_t width)
{
    while (widest->first != widest->last &&
           widest->kept[(widest->last - 1) % SPANS_MAX].width <= width)
        widest->last--;
    widest->kept[widest->last % SPANS_MAX].span = span;
    widest->kept[widest->last++ % SPANS_MAX].width = width;
}

/* Takes out the queue's first span. */
static inline void widest_end(struct widest *widest, uint32_t span)
{
    if (widest->first != widest->last && widest->kept[widest->first % SPANS_MAX].span == span)
        widest->first++;
}

static inline void widest_clear(struct widest *widest)
{
    widest->first = widest->last;
}

#endif
