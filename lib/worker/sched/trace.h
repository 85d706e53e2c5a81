/*
 * trace.h - writes what lanes do into the trace that an operator or user looks at; see trace.c. The
 * session's lane, except where a comment says otherwise.
 *
 * Without a trace a caller pays one predictable branch (trace_of).
 */
#ifndef GS_WORKER_SCHED_TRACE_H
#define GS_WORKER_SCHED_TRACE_H

#include "common/trace.h"
#include "worker/partition/kernel_launch.h"

struct trace {
    struct trace_segment *segment;
    uint32_t uid; /* whose sessions are traced, unless all are */
    bool all;
};

/* The trace that runs; NULL: there is none. Every lane reads it, so the main lane sets it
 * (trace_set) while no other lane has a session. The pointer to it is constant. */
extern const struct trace *const *const trace_running;

static inline bool trace_of(const struct session *session)
{
    const struct trace *trace = *trace_running;

    return __builtin_expect(trace != NULL, 0) && (trace->all || trace->uid == session->uid);
}

/* Maps a segment of the supervisor's. NULL: that failed, which is logged. Control thread. */
struct trace *trace_open(const struct link_trace *link);
/* Begins to write into this trace, or (NULL) into none, and detaches the one before. Main lane,
 * while no other lane has a session. */
void trace_set(struct trace *trace);
/* Detaches a trace that was never set. NULL is fine. Any thread. */
void trace_free(struct trace *trace);

/* Notes that a record was fetched at `fetched_ns`, and taken. record: the worker's own copy,
 * checked. */
void trace_fetched(const struct session *session, uint32_t stream, const unsigned char *record,
                   uint64_t fetched_ns);
/* Notes that a driver call begins that issues work of the calling lane. */
void trace_issuing(void);
/* Notes that a driver call has given the device launches of one shape, or (below) other work.
 * fence: the count in the fence that will signal its end. */
void trace_launches(const struct session *session, uint32_t stream, uint32_t fence,
                    const struct launch *launches, uint32_t count);
/* work: REC_COPY, REC_MEMSET, REC_EVENT, REC_WAIT, REC_GRAPH or REC_GEMM. */
void trace_other(const struct session *session, uint32_t stream, uint32_t fence, uint16_t work,
                 uint64_t bytes);
/* Notes that the work of that fence ran from begin_ns to end_ns, and costs the session charged_ns.
 */
void trace_ended(const struct session *session, uint32_t stream, uint32_t fence, uint64_t begin_ns,
                 uint64_t end_ns, uint64_t charged_ns);

#endif
