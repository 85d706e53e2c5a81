/*
 * operation.c - takes the records of a stream other than launches: copies, memsets, boxes, events,
 * waits, host functions, recorded graphs and products. Runs on the session's lane.
 *
 * Each record is checked (record.c), issued and accounted for (account.c) in its place between the
 * stream's launches: the launches before it, which the batch has gathered, are issued first. For a
 * host function nothing is issued; the stream waits until the client's function has returned.
 */
#include "worker/submit/operation.h"

#include "common/util.h"
#include "worker/partition/partition.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/submit/account.h"
#include "worker/submit/batch.h"
#include "worker/submit/graph.h"
#include "worker/submit/launch.h"
#include "worker/submit/product.h"
#include "worker/submit/stream.h"

static enum outcome take_transfer(struct session *session, uint32_t index,
                                  const unsigned char *record, bool set, uint64_t *bytes)
{
    struct transfer transfer;
    record_refusal refusal = set ? record_check_memset(session, (const void *)record, &transfer)
                                 : record_check_copy(session, (const void *)record, &transfer);

    if (refusal)
        return record_rejected(session, index, refusal);
    *bytes = transfer.bytes;
    return record_issued(session, index,
                         transfer_issue(&transfer, session->submit.streams[index].cu));
}

/* Takes a box like a copy, but only on the main lane, because arrays belong to the primary
 * context. */
static enum outcome take_box(struct session *session, uint32_t index, const struct rec_box *record,
                             uint64_t *bytes)
{
    CUDA_MEMCPY3D copy;
    record_refusal refusal = record_check_box(session, record, &copy);

    if (refusal)
        return record_rejected(session, index, refusal);
    *bytes = copy.WidthInBytes * copy.Height * copy.Depth;
    return record_issued(session, index,
                         DRV(cuMemcpy3DAsync_v2, &copy, session->submit.streams[index].cu));
}

static enum outcome take_event(struct session *session, uint32_t index,
                               const struct rec_event *record)
{
    if (record->event >= SEG_EVENTS)
        return record_rejected(session, index, "an event that does not exist");
    struct event *event;
    CUresult result = event_slot(session, record->event, &event);
    /* A later record has recorded the event again, or another event in the same slot, in a stream
     * that was drained earlier. The event keeps the time of the later record. */
    if (!result && event && record->serial < event->serial)
        return RECORD_TAKEN;
    if (!result && event)
        result = DRV(cuEventRecord, event->cu, session->submit.streams[index].cu);
    if (!result && event) {
        event->serial = record->serial;
        event->stream = index;
        event->position = session->submit.streams[index].head + sizeof(*record);
    }
    return record_issued(session, index, result);
}

/* Has the stream wait for all work issued to the other stream. Used when the event has been
 * recorded again elsewhere since: the wait ends later than asked for, never earlier. */
static CUresult wait_for_stream(struct session *session, uint32_t index, uint32_t other)
{
    CUevent now = NULL;

    thread_context_set(
        session->submit.streams[other].context); /* an event is recorded in its stream's context */
    CUresult result = DRV(cuEventCreate, &now, CU_EVENT_DISABLE_TIMING);
    if (!result)
        result = DRV(cuEventRecord, now, session->submit.streams[other].cu);
    thread_context_set(session->submit.streams[index].context);
    if (!result)
        result = DRV(cuStreamWaitEvent, session->submit.streams[index].cu, now, 0);
    CUresult destroyed = now ? DRV(cuEventDestroy_v2, now) : CUDA_SUCCESS;
    return result ? result : destroyed;
}

static enum outcome take_wait(struct session *session, uint32_t index,
                              const struct rec_wait *record)
{
    if (record->event >= SEG_EVENTS || record->stream >= SEG_STREAMS)
        return record_rejected(session, index, "a wait for an event that does not exist");
    const struct stream *other = &session->submit.streams[record->stream];
    if (other->head < record->position)
        return other->open
                   ? RECORD_STALLED
                   : record_rejected(session, index, "a wait for a stream that does not exist");
    if (!other->cu)
        return RECORD_TAKEN; /* a stream that was never used has nothing unfinished */
    const struct event *event =
        session->submit.events ? &session->submit.events[record->event] : NULL;
    if (event && event->cu && event->stream == record->stream &&
        event->position >= record->position)
        return record_issued(
            session, index,
            DRV(cuStreamWaitEvent, session->submit.streams[index].cu, event->cu, 0));
    return record_issued(session, index, wait_for_stream(session, index, record->stream));
}

/* Takes a host function. The client calls its function when it sees that the stream's work before
 * the record is done, and sets the activity word when the function has returned. So a waiting
 * stream costs the lane nothing. A tenant that writes wrong words only makes its own stream wait
 * too long, or go on too early. */
static enum outcome take_host(const struct session *session, uint32_t index)
{
    const uint64_t end = session->submit.streams[index].head + sizeof(struct rec_host);
    /* seq_cst: must come after the exchange of the activity word, like the read of the tail; the
     * client stores host_done before it sets the bit */
    const uint64_t done = atomic_load(&session->client->host_done[index]);

    return (int64_t)(done - end) >= 0 ? RECORD_TAKEN : RECORD_CALLED;
}

/* The properties of a kind of record. */
struct operation {
    uint32_t size;
    bool more; /* the record may be larger, because changes follow */
    enum issued_kind kind;
    /* what the record counts as when kernels are measured apart from other work (launch_apart) */
    enum { NEITHER, KERNELS, OTHERS } measured;
    bool fence_before; /* the launches before it end with a fence */
    bool any_lane;     /* side lanes take the record too */
    bool primary;      /* its stream must be in the primary context, like arrays and graphs */
};

static const struct operation operations[] = {
    [REC_COPY] = {.size = sizeof(struct rec_copy),
                  .kind = ISSUED_TRANSFER,
                  .measured = OTHERS,
                  .any_lane = true},
    [REC_MEMSET] = {.size = sizeof(struct rec_memset),
                    .kind = ISSUED_TRANSFER,
                    .measured = OTHERS,
                    .any_lane = true},
    [REC_BOX] = {.size = sizeof(struct rec_box),
                 .kind = ISSUED_TRANSFER,
                 .measured = OTHERS,
                 .primary = true},
    [REC_EVENT] = {.size = sizeof(struct rec_event), .kind = ISSUED_EVENT, .primary = true},
    [REC_WAIT] = {.size = sizeof(struct rec_wait), .kind = ISSUED_WAIT, .measured = OTHERS},
    /* the client calls its function once the end of the work before is signalled */
    [REC_HOST] = {.size = sizeof(struct rec_host), .kind = ISSUED_HOST, .fence_before = true},
    [REC_GRAPH] = {.size = sizeof(struct rec_graph),
                   .more = true,
                   .kind = ISSUED_GRAPH,
                   .measured = KERNELS,
                   .primary = true},
    [REC_GEMM] = {.size = sizeof(struct rec_gemm),
                  .kind = ISSUED_PRODUCT,
                  .measured = KERNELS,
                  .primary = true},
};
/* A record of no known kind, which operation_issue refuses. */
static const struct operation unknown = {.size = REC_ALIGN, .primary = true};

/* Issues the batch before a record other than a launch. If kernels are measured apart from copies
 * and waits (launch_apart), a fence separates the two. Returns false if the driver refused
 * something. */
static bool kernels_issue(struct session *session, uint32_t index, const struct operation *next)
{
    struct stream *stream = &session->submit.streams[index];
    const bool apart = next->measured != NEITHER && launch_apart(session, stream);
    const bool other = next->measured == OTHERS;
    const bool fence = next->fence_before || (apart && other);
    CUresult result = CUDA_SUCCESS;

    if (!batch_issue(session, index, fence ? COMPLETION_FENCE : COMPLETION_NONE))
        return false;
    if (apart &&
        (other ? inflight_open_kernels(stream->inflight) : inflight_open_others(stream->inflight)))
        result = completion_fence(session, stream, stream->issued);
    if (result)
        record_driver_refused(session, index, result, NULL, 0);
    return !result;
}

/* Issues the work of a record of the kind issued->work, whose size is right. Completes *issued if
 * the record was taken. */
static enum outcome operation_issue(struct session *session, uint32_t index,
                                    const unsigned char *record, struct issued *issued)
{
    switch (issued->work) {
    case REC_COPY:
    case REC_MEMSET:
        return take_transfer(session, index, record, issued->work == REC_MEMSET, &issued->bytes);
    case REC_BOX:
        issued->work = REC_COPY; /* to the trace */
        return take_box(session, index, (const void *)record, &issued->bytes);
    case REC_EVENT:
        return take_event(session, index, (const void *)record);
    case REC_WAIT:
        return take_wait(session, index, (const void *)record);
    case REC_HOST:
        return take_host(session, index);
    case REC_GRAPH:
        return graph_launch(session, index, (const void *)record);
    case REC_GEMM:
        return product_issue(session, index, (const void *)record);
    default:
        return record_rejected(session, index, "a record of no known kind");
    }
}

uint64_t operation_guess(const struct session *session, uint32_t index, const unsigned char *record)
{
    const struct rec_graph *graph = (const void *)record;
    const uint64_t ns = inflight_guess_graph(session->submit.streams[index].inflight);
    const uint64_t lane_ns = graph->h.op == REC_GRAPH ? graph_lane_ns(session, graph) : 0;

    return ns > lane_ns ? ns : lane_ns;
}

enum outcome operation_take(struct session *session, uint32_t index, const unsigned char *record,
                            uint32_t size)
{
    const uint32_t op = ((const struct rec_header *)(const void *)record)->op;
    const bool known = op < ARRAY_SIZE(operations) && operations[op].size;
    const struct operation *operation = known ? &operations[op] : &unknown;
    struct stream *stream = &session->submit.streams[index];
    struct issued issued = {.kind = operation->kind, .work = op, .position = stream->head + size};

    if (!lane_is_main(session->lane) && !operation->any_lane)
        return RECORD_ELSEWHERE;
    if (!operation->any_lane)
        session->submit.light = 0;
    if (!kernels_issue(session, index, operation))
        return RECORD_ENDED;
    if (operation->more ? size < operation->size : size != operation->size)
        return record_rejected(session, index, "a record of a wrong size");
    if (operation->primary && !stream_primary(session, stream))
        return RECORD_STALLED;
    account_issuing(session, stream);
    const enum outcome outcome = operation_issue(session, index, record, &issued);
    if (outcome == RECORD_TAKEN)
        account_issued(session, stream, &issued);
    return outcome;
}
