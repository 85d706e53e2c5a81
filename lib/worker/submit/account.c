/*
 * account.c - the one place that accounts for issued work, in the stream's positions, the session's
 * statistics, and the inflight tracker, which charges for the work when it has ended.
 */
#include "worker/submit/account.h"

#include "common/link.h"
#include "worker/sched/inflight.h"
#include "worker/sched/trace.h"
#include "worker/submit/graph_cache.h"

static void issued_add(struct session *session, struct stream *stream, const struct issued *issued)
{
    switch (issued->kind) {
    case ISSUED_LAUNCHES:
        inflight_add(stream->inflight, issued->launches, issued->count);
        link_stat_add(&session->stats->launches, issued->count);
        break;
    case ISSUED_REQUEST:
        for (uint32_t i = 0, run; i < issued->count; i += run) {
            run = launches_alike(issued->launches + i, issued->count - i);
            inflight_add(stream->inflight, issued->launches + i, run);
        }
        link_stat_add(&session->stats->launches, issued->count);
        break;
    case ISSUED_GRAPH:
        inflight_add_graph(stream->inflight, issued->position);
        stream->transferred = issued->position; /* a graph may have copies */
        break;
    case ISSUED_PRODUCT:
        inflight_add_graph(stream->inflight, issued->position);
        link_stat_add(&session->stats->launches, 1);
        break;
    case ISSUED_EVENT:
    case ISSUED_HOST:
        inflight_add_event(stream->inflight);
        break;
    case ISSUED_TRANSFER:
        inflight_add_other(stream->inflight);
        stream->transferred = issued->position;
        link_stat_add(&session->stats->copies, 1);
        link_stat_add(&session->stats->copied_bytes, issued->bytes);
        break;
    case ISSUED_WAIT:
        inflight_add_other(stream->inflight);
        break;
    case ISSUED_END:
        break;
    }
}

/* Writes the issued work into the trace, as part of the span that ends with the next fence. */
static void issued_trace(const struct session *session, const struct stream *stream,
                         const struct issued *issued)
{
    const uint32_t index = (uint32_t)(stream - session->submit.streams);
    const uint32_t fence = (uint32_t)inflight_fence_next(stream->inflight);

    switch (issued->kind) {
    case ISSUED_LAUNCHES:
    case ISSUED_REQUEST:
        for (uint32_t i = 0, run; i < issued->count; i += run) {
            run = launches_alike(issued->launches + i, issued->count - i);
            trace_launches(session, index, fence, issued->launches + i, run);
        }
        break;
    case ISSUED_END:
        break;
    default:
        trace_other(session, index, fence, issued->work, issued->bytes);
    }
}

void account_issuing(const struct session *session, struct stream *stream)
{
    if (trace_of(session))
        trace_issuing();
    inflight_issue(stream->inflight);
}

void account_issued(struct session *session, struct stream *stream, const struct issued *issued)
{
    if (issued->position > stream->issued)
        stream->issued = issued->position;
    session->inflight.busy |= UINT64_C(1) << (stream - session->submit.streams);
    if (trace_of(session))
        issued_trace(session, stream, issued);
    issued_add(session, stream, issued);
    if (issued->completion == COMPLETION_NONE)
        return;
    stream->signalled = issued->position;
    if (issued->completion == COMPLETION_FENCE)
        inflight_fence_follows(stream->inflight);
    else
        inflight_no_fence_follows(stream->inflight);
}
