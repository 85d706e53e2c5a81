/*
 * widest.h - finds the widest of the spans in a stream's queue. It keeps only the spans that are
 * wider than all spans behind them, since the others can never become the widest. Called by the
 * session's lane.
 */
#ifndef GS_WORKER_SCHED_WIDEST_H
#define GS_WORKER_SCHED_WIDEST_H

#include <stdint.h>

#include "worker/sched/schedule.h"

/* the most spans in flight; each has at least one launch */
#define SPANS_MAX (2 * SCHED_STREAM_MAX)

/* All zero: no span. */
struct widest {
    uint32_t first, last; /* free-running indices of `kept`; the span at `first` is the widest */
    struct {
        uint32_t span, width; /* span: the span's free-running number in the queue */
    } kept[SPANS_MAX];
};

/* Returns the width of the widest span; 0: there is none. */
static inline uint32_t widest_width(const struct widest *widest)
{
    return widest->first != widest->last ? widest->kept[widest->first % SPANS_MAX].width : 0;
}

/* Appends a span to the queue. */
static inline void widest_add(struct widest *widest, uint32_t span, uint32_t width)
{
    while (widest->first != widest->last &&
           widest->kept[(widest->last - 1) % SPANS_MAX].width <= width)
        widest->last--;
    widest->kept[widest->last % SPANS_MAX].span = span;
    widest->kept[widest->last++ % SPANS_MAX].width = width;
}

/* Removes the queue's first span. */
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
