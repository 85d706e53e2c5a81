/*
 * span.h - a span of the inflight tracker (inflight.c): its work, the time that it is charged for,
 * and what its end teaches about its kernels. Called by the session's lane.
 */
#ifndef GS_WORKER_SCHED_SPAN_H
#define GS_WORKER_SCHED_SPAN_H

#include "worker/partition/kernel_launch.h"
#include "worker/sched/latency.h"
#include "worker/sched/schedule.h"

/* Launches of one kernel, and what was known of the kernel when they were issued. */
struct kernel_run {
    uint32_t kernel;
    uint64_t serial; /* of the kernel */
    double wave_ns;  /* the kernel's time per wave (estimate.h); 0: never measured */
    uint64_t ns;     /* the expected time of the launches */
};

/* Values of inflight_span.kernel that stand for no kernel. */
#define SPAN_MIXED   UINT32_MAX       /* several kernels, or also copies or waits */
#define SPAN_GRAPHS  (UINT32_MAX - 1) /* graphs alone */
#define SPAN_NOTHING (UINT32_MAX - 2) /* only events, on which the device spends no time */

/* Work of a stream that ends with one fence. All zero: no work. */
struct inflight_span {
    uint64_t dispatch_ns, deadline_ns;
    struct sched_work work;    /* the span's work, without events */
    uint32_t records;          /* launches, graphs, copies, memsets, waits, events */
    uint64_t serial;           /* of the kernel */
    uint32_t kernel;           /* the kernel of all launches, or one of SPAN_* */
    double waves;              /* the sum of the launches' waves; a graph counts as 1 */
    struct kernel_run longest; /* the launches with the longest expected time */
    /* the sum of the expected times, each multiplied by the number of SMs that the kernel takes */
    uint64_t sm_ns;
    struct latency_span seen; /* when the lane saw its launches and graphs */
    /* the timeline (sm_time.h) of the kernels that fill their SMs; that of the whole device if they
     * have several */
    uint32_t timeline;
    uint32_t timeline_sms; /* the number of SMs of that timeline */
    /* the number of kernels that fill their SMs, even if these are only a part of the device */
    uint32_t filling;
    uint32_t sequence; /* the count in its fence */
    bool overdue;      /* the span, or one before it in the stream, is overdue (inflight.c) */
    /* the time that the span has been charged for already, and the moment up to which it has
     * been */
    uint64_t charged, charged_ns;
    bool beside; /* its kernels may have run beside those of others */
    bool others; /* the span has copies or waits, which use no SM */
    bool graphs; /* the span has graphs */
};

/* Adds launches of one shape to the span. */
void span_add_launches(struct inflight_span *span, const struct launch *launches, uint32_t count);
/* Adds a tenant's graph, which is expected to take `ns` nanoseconds and to fill the partition. */
void span_add_graph(struct inflight_span *span, const struct partition *partition, uint64_t ns);
/* Adds an event. */
void span_add_event(struct inflight_span *span);
/* Adds a copy, memset or wait. */
void span_add_other(struct inflight_span *span);

/* Returns whether the span has kernels that fill their SMs, so that others have to wait for it. */
static inline bool span_wide(const struct inflight_span *span)
{
    return span->work.wide > 0;
}

/* Returns whether the span consists of kernels or graphs only, with at least one. */
static inline bool span_of_kernels(const struct inflight_span *span)
{
    return span->records > 0 && span->kernel != SPAN_MIXED && span->kernel != SPAN_NOTHING;
}

/* Returns the time that is charged to the session's virtual time for a span that ran for `ran`.
 * That is the whole time, however little of the device the span filled, because a session that
 * found no room beside it had to wait. Only a span so narrow that no session waits for it is
 * charged by the part of the device that it fills. */
uint64_t span_vtime_ns(const struct inflight_span *span, uint64_t ran);
/* Adds `ns` of the span's time on the device, and that time on as many SMs as it takes, to the
 * session's statistics. */
void span_charge_ns(struct session *session, const struct inflight_span *span, uint64_t ns);
/* Charges the session for the time that the span has run from `begin` to `end`, except for the part
 * that it was charged for already. */
void span_charge(struct session *session, struct inflight_span *span, uint64_t begin, uint64_t end);
/* Learns from an ended span how long its kernels take. The span was at the head of its stream for
 * the time `there`, and is charged with `ran` of it. Kernels that fill the device ran for just
 * `ran`; narrower ones may have run beside the work that had the rest. For a span of several
 * kernels only the sum is known: the error of its expected time corrects the kernel that makes up
 * most of it, until another kernel does. graph_ns: how long the stream's graphs ran lately; 0:
 * never measured. */
void span_learn(const struct session *session, const struct inflight_span *span, uint64_t ran,
                uint64_t there, uint64_t *graph_ns);

#endif
