/*
 * span.h - a span of the inflight tracker (inflight.c): what it is made of, what it is charged for,
 * and what its end teaches about its kernels. The session's lane.
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
    double wave_ns;  /* of the kernel; 0: never measured */
    uint64_t ns;     /* how long the launches were thought to run */
};

/* Values of inflight_span.kernel that are no kernel. */
#define SPAN_MIXED   UINT32_MAX       /* several kernels, or copies or waits too */
#define SPAN_GRAPHS  (UINT32_MAX - 1) /* graphs alone */
#define SPAN_NOTHING (UINT32_MAX - 2) /* events alone: the device spends no time on them */

/* Work of a stream that ends with one fence. All zero: none. */
struct inflight_span {
    uint64_t dispatch_ns, deadline_ns;
    struct sched_work work;    /* without events, on which the device spends no time */
    uint32_t records;          /* launches, graphs, copies, memsets, waits, events */
    uint64_t serial;           /* of the kernel */
    uint32_t kernel;           /* the kernel of all launches, or one of SPAN_* */
    double waves;              /* the sum over all launches; a graph counts 1 */
    struct kernel_run longest; /* the launches that were thought to run longest */
    uint64_t sm_ns;            /* the sum of the guesses, each by the SMs that the kernel takes */
    struct latency_span seen;  /* when its launches and graphs were seen */
    /* sm_time_timeline of the kernels that fill their SMs; where they have several timelines, that
     * of the whole device */
    uint32_t timeline;
    uint32_t timeline_sms; /* the number of SMs of that timeline */
    /* the number of kernels that fill their SMs, also where these are a part of the device */
    uint32_t filling;
    uint32_t sequence; /* the count in its fence */
    bool overdue;      /* the span is overdue (inflight.c), or stands behind one that is */
    /* device time of the span that is charged already, and the moment up to which it is */
    uint64_t charged, charged_ns;
    bool beside; /* its kernels may have run beside others' */
    bool others; /* it has copies or waits, which use no SM */
    bool graphs; /* it has graphs */
};

/* Adds launches of one shape to the span. */
void span_add_launches(struct inflight_span *span, const struct launch *launches, uint32_t count);
/* Adds a tenant's graph, which is thought to take `ns` and to fill the partition. */
void span_add_graph(struct inflight_span *span, const struct partition *partition, uint64_t ns);
/* Adds an event. */
void span_add_event(struct inflight_span *span);
/* Adds a copy, memset or wait. */
void span_add_other(struct inflight_span *span);

/* Whether the span has kernels that fill their SMs, so that others have to wait for it. */
static inline bool span_wide(const struct inflight_span *span)
{
    return span->work.wide > 0;
}

/* Whether the span has kernels or graphs alone, and any of them. */
static inline bool span_of_kernels(const struct inflight_span *span)
{
    return span->records > 0 && span->kernel != SPAN_MIXED && span->kernel != SPAN_NOTHING;
}

/* The part of a span's time that counts for its session's share: the whole time, however little of
 * the device the span filled, because a session that found no room beside it had to wait. A span so
 * narrow that no session waits for it counts by the part of the device that it fills. */
uint64_t span_vtime_ns(const struct inflight_span *span, uint64_t ran);
/* Charges the session for time that the span was on the device, and on as many SMs as it takes. */
void span_charge_ns(struct session *session, const struct inflight_span *span, uint64_t ns);
/* Charges the session for what the span has run from `begin` to `end`, but for what it is charged
 * for already. */
void span_charge(struct session *session, struct inflight_span *span, uint64_t begin, uint64_t end);
/* Learns from an ended span how long its kernels take. The span was at the head of its stream for
 * the time `there` and is charged with `ran` of it. Kernels that fill the device ran for just
 * `ran`; narrower kernels may have run beside those that had the rest. Of a span of several kernels
 * only the sum is known: the error of its guess corrects the kernel that makes up most of it, until
 * another kernel does. graph_ns: how long the stream's graphs ran lately; 0: never measured. */
void span_learn(const struct session *session, const struct inflight_span *span, uint64_t ran,
                uint64_t there, uint64_t *graph_ns);

#endif
