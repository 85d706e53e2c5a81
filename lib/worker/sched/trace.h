/*
 * trace.h - writes what the lanes do into the trace that an operator or user reads; see trace.c.
 * Called by the session's lane, except where a comment says otherwise.
 */
#ifndef GS_WORKER_SCHED_TRACE_H
#define GS_WORKER_SCHED_TRACE_H

#include "common/trace.h"
#include "worker/partition/kernel_launch.h"

struct trace {
    struct trace_segment *segment;
    uint32_t uid; /* the user whose sessions are traced, unless `all` is set */
    bool all;
};

/* The running trace; NULL: there is none. Every lane reads it, so the main lane changes it
 * (trace_set) only while no other lane has a session. The pointer to it is constant. */
extern const struct trace *const *const trace_running;

static inline bool trace_of(const struct session *session)
{
    const struct trace *trace = *trace_running;

    return __builtin_expect(trace != NULL, 0) && (trace->all || trace->uid == session->uid);
}

/* Maps a trace segment of the supervisor's. Returns NULL on failure, which is logged. Called by the
 * control thread. */
struct trace *trace_open(const struct link_trace *link);
/* Switches to this trace (NULL: to none), and detaches the one before. Called by the main lane,
 * while no other lane has a session. */
void trace_set(struct trace *trace);
/* Detaches a trace that was never set. NULL is allowed. Called by any thread. */
void trace_free(struct trace *trace);

/* Notes that a record was fetched at `fetched_ns`, and taken. record: the worker's checked copy. */
void trace_fetched(const struct session *session, uint32_t stream, const unsigned char *record,
                   uint64_t fetched_ns);
/* Notes that the calling lane begins a driver call that issues work. */
void trace_issuing(void);
/* Notes that a driver call has issued launches of one shape, or (trace_other) other work. fence:
 * the count in the fence that will signal the work's end. */
void trace_launches(const struct session *session, uint32_t stream, uint32_t fence,
                    const struct launch *launches, uint32_t count);
/* work: REC_COPY, REC_MEMSET, REC_EVENT, REC_WAIT, REC_GRAPH or REC_GEMM. */
void trace_other(const struct session *session, uint32_t stream, uint32_t fence, uint16_t work,
                 uint64_t bytes);
/* Notes that the work of this fence ran from begin_ns to end_ns, and that the session is charged
 * with charged_ns. */
void trace_ended(const struct session *session, uint32_t stream, uint32_t fence, uint64_t begin_ns,
                 uint64_t end_ns, uint64_t charged_ns);

#endif
