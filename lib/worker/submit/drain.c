/*
 * drain.c - drains a stream: takes the records of its ring and issues their work. Runs on the
 * session's lane.
 *
 * The way of a record, with the file of each step:
 *   - fetch: the record is copied out of the tenant's memory once, so that the tenant cannot change
 *     it after its check (record_copy);
 *   - check: every field of the copy (record.c);
 *   - gather: a launch gets its SMs and joins the batch (batch.c);
 *   - issue: the batch as exec graphs (launch.c). Any other record (operation.c) first has the
 *     batch issued, then its own work: a copy, memset, event or wait, a recorded graph (graph.c) or
 *     a product (product.c). Completion word and fence signal the end (completion.c);
 *   - account: for what was issued (account.c); the inflight tracker reads the fence (inflight.c).
 * doc/protocol.md, "Records", describes each kind of record.
 */
#include "worker/submit/drain.h"

#include <string.h>

#include "common/ring.h"
#include "common/util.h"
#include "worker/journal/journal.h"
#include "worker/partition/partition.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/sched/trace.h"
#include "worker/submit/batch.h"
#include "worker/submit/launch_range.h"
#include "worker/submit/operation.h"
#include "worker/submit/stream.h"

/* a fence follows each stretch of work that is expected to take this long */
#define FENCE_NS 500000u

static_assert(sizeof(struct rec_launch) <= REC_ALIGN, "no record is too small for a launch");

/* Takes one record, which is the worker's own copy. *ns: how long a record that was taken is
 * expected to keep the device. */
static enum outcome take(struct session *session, uint32_t index, unsigned char *record,
                         uint32_t size, uint64_t *ns)
{
    const uint32_t op = ((const struct rec_header *)(const void *)record)->op;

    if (op == REC_LAUNCH)
        return batch_take(session, index, record, size, ns);
    if (op == REC_GRAPH || op == REC_GEMM)
        *ns = operation_guess(session, index, record);
    return operation_take(session, index, record, size);
}

/* Takes the record, and notes it in the trace, if there is one. */
static enum outcome take_traced(struct session *session, uint32_t index, unsigned char *record,
                                uint32_t size, uint64_t *ns)
{
    if (!trace_of(session))
        return take(session, index, record, size, ns);
    const uint64_t fetched_ns = clock_ns();
    const enum outcome outcome = take(session, index, record, size, ns);
    if (outcome == RECORD_TAKEN)
        trace_fetched(session, index, record, fetched_ns);
    return outcome;
}

/* Copies the record at the stream's head out of the ring; of a padding, only the header. NULL: the
 * session has ended, because the record's size is invalid or the driver refused the batch that was
 * issued to make room. */
static unsigned char *record_copy(struct session *session, uint32_t index, uint64_t tail)
{
    const struct stream *stream = &session->submit.streams[index];
    const struct rec_header header = ring_header(session, index, stream->head);
    const uint32_t size = header.op == REC_PAD ? REC_ALIGN : header.size;

    if (header.size < REC_ALIGN || header.size % REC_ALIGN || size > REC_SIZE_MAX ||
        header.size > ring_to_end(stream->head) || header.size > tail - stream->head) {
        record_rejected(session, index, "a record of a wrong size");
        return NULL;
    }
    unsigned char *copy = batch_next(session, index, size);
    if (!copy)
        return NULL;
    memcpy(copy, ring_at(session, index, stream->head), size);
    /* The tenant may have changed the header between the two reads; the first read, which was
     * checked, counts. */
    memcpy(copy, &header, sizeof(header));
    return copy;
}

/* Returns whether the tenant has written records that the stream has not taken. *tail: up to which
 * ring position. */
static bool tail_read(struct session *session, uint32_t index, uint64_t *tail)
{
    const uint64_t head = session->submit.streams[index].head;
    /* seq_cst: orders the load after the exchange of the activity word, and makes the records
     * before the tail visible; pairs with the client's store of the tail */
    const uint64_t now = atomic_load(&session->client->tail[index]);

    if (now == head)
        return false;
    if (!ring_tail_valid(now, head)) {
        record_rejected(session, index, "a ring tail beyond the ring");
        return false;
    }
    *tail = now;
    return true;
}

/* Called when all records seen before are taken and more have come since: the tenant is in the
 * middle of a batch arrival, whose end is signalled only once. If the device has nothing to do for
 * the stream and no other tenant waits for the lane, issues the gathered launches at once. Returns
 * false if the driver refused them. */
static bool arrival_middle(struct session *session, uint32_t index)
{
    return inflight_count(session->submit.streams[index].inflight) > 0 || session->lane->crowded ||
           batch_issue(session, index, COMPLETION_NONE);
}

/* Returns whether the next record is an event. An event is issued with the work before it, even if
 * the allowance's time is used up: otherwise the tenant would learn of the event only when the
 * stream's next work ends, a turn of all waiting sessions later. The record is not copied here,
 * because a tenant that changes it meanwhile affects only this choice. */
static bool event_next(const struct session *session, uint32_t index)
{
    return ring_header(session, index, session->submit.streams[index].head).op == REC_EVENT;
}

/* Notes for the next worker how far the stream is consumed. relaxed: the reader has seen this
 * process end. */
static void consumed_note(const struct session *session, uint32_t index, uint64_t position,
                          uint64_t launches)
{
    if (!session->positions)
        return;
    atomic_store_explicit(&session->positions->consumed[index], position, memory_order_relaxed);
    atomic_store_explicit(&session->positions->launches[index], launches, memory_order_relaxed);
}

/* Notes that the kernels of a taken record may note a fault. record: the worker's checked copy. */
static void launch_noted(struct session *session, uint32_t index, const unsigned char *record)
{
    const struct rec_launch *r = (const void *)record;

    if (r->h.op == REC_LAUNCH)
        launch_range_taken(session, index, kernel_find(&session->kernels, r->kernel));
    else if (r->h.op == REC_GRAPH)
        launch_range_taken(session, index, NULL);
}

/* ---- A drain --------------------------------------------------------------------------------- */

struct drain {
    struct session *session;
    uint32_t index;
    struct stream *stream;
    uint64_t tail;           /* the ring is known to have records up to this position */
    uint32_t taken;          /* number of records taken, without the first padding */
    bool padded;             /* a padding was taken */
    uint64_t ns;             /* the expected time of the records taken */
    uint64_t since_fence_ns; /* the same for those after the last fence */
};

/* Returns whether to take another record now. *drained: DRAINED_SOME if a record has to wait. */
static bool drain_goes_on(struct drain *drain, const struct sched_allowance *allowance,
                          enum drained *drained)
{
    struct session *session = drain->session;
    const bool caught_up = drain->stream->head == drain->tail;

    if (caught_up && !tail_read(session, drain->index, &drain->tail))
        return false;
    if (caught_up && session->module.faults && !launch_ranges_look(session)) {
        *drained = DRAINED_SOME;
        return false;
    }
    if (caught_up && drain->taken == 0) /* records that come during the drain are taken at once */
        inflight_seen(drain->stream->inflight, drain->tail, session->lane->now);
    if (drain->taken >= allowance->launches ||
        (drain->ns >= allowance->ns && !event_next(session, drain->index))) {
        *drained = DRAINED_SOME;
        return false;
    }
    return !caught_up || arrival_middle(session, drain->index);
}

/* Takes the record at the stream's head. */
static enum outcome drain_record(struct drain *drain)
{
    struct session *session = drain->session;
    struct stream *stream = drain->stream;
    unsigned char *record = record_copy(session, drain->index, drain->tail);
    enum outcome outcome = RECORD_TAKEN;
    struct rec_header header;
    uint64_t ns = 0;

    if (!record)
        return RECORD_ENDED;
    memcpy(&header, record, sizeof(header));
    const bool launch = header.op == REC_LAUNCH;
    /* Noted before the record is taken, because a record that may be on the device counts as
     * consumed. */
    consumed_note(session, drain->index, stream->head + header.size, stream->launches + launch);
    if (header.op == REC_PAD)
        arrival_pad(&stream->arrival, header.size);
    else
        outcome = take_traced(session, drain->index, record, header.size, &ns);
    if (outcome != RECORD_TAKEN)
        return outcome;
    stream->head += header.size;
    stream->launches += launch;
    if (session->module.faults)
        launch_noted(session, drain->index, record);
    if (header.op == REC_PAD && !drain->padded)
        drain->padded = true;
    else
        drain->taken++;
    drain->ns += ns;
    drain->since_fence_ns += ns;
    /* A fence after a long kernel lets the lane refill the stream once that kernel has ended. */
    if (drain->since_fence_ns >= FENCE_NS && !stream->arrival.entire) {
        batch_finish(session, drain->index);
        drain->since_fence_ns = 0;
    }
    return RECORD_TAKEN;
}

uint32_t stream_drain(struct session *session, uint32_t index, struct sched_allowance allowance,
                      enum drained *drained)
{
    struct stream *stream = &session->submit.streams[index];
    struct drain drain = {session, index, stream, .tail = stream->head};
    enum outcome outcome = RECORD_TAKEN;

    *drained = DRAINED_ALL;
    if (!stream->open || session->submit.faulted)
        return 0;
    CUresult result = stream->cu ? CUDA_SUCCESS : stream_make(session, stream);
    if (result) {
        record_driver_refused(session, index, result, NULL, 0);
        return 0;
    }
    thread_context_set(stream->context);
    while (outcome == RECORD_TAKEN && !session->submit.faulted &&
           drain_goes_on(&drain, &allowance, drained))
        outcome = drain_record(&drain);
    batch_finish(session, index);
    if (stream->head < drain.tail)
        inflight_seen(stream->inflight, drain.tail, session->lane->now);
    thread_context_set(session->lane->context);
    if (outcome == RECORD_STALLED || outcome == RECORD_ELSEWHERE || outcome == RECORD_CALLED) {
        *drained = outcome == RECORD_STALLED  ? DRAINED_STALLED
                   : outcome == RECORD_CALLED ? DRAINED_ALL
                                              : DRAINED_ELSEWHERE;
        /* the record stays in the ring */
        consumed_note(session, index, stream->head, stream->launches);
    }
    return drain.taken == 0 && drain.padded ? 1 : drain.taken;
}

/* ---- Deadlines ------------------------------------------------------------------------------- */

uint64_t stream_deadline(const struct session *session, uint32_t index)
{
    const struct stream *stream = &session->submit.streams[index];
    const unsigned char *at = ring_at(session, index, stream->head);
    struct rec_launch r;
    struct wire_qos qos;
    uint64_t submitted, deadline = session->grant.link.deadline_ns;

    memcpy(&r, at, sizeof(r));
    if (r.h.op != REC_LAUNCH || !(r.h.flags & REC_LAUNCH_TIME) ||
        r.param_bytes > REQ_PARAM_BYTES_MAX ||
        launch_record_size(r.h.flags, r.param_bytes) > ring_to_end(stream->head))
        return deadline ? session->sched.entity.served_ns + deadline : 0;
    if (r.h.flags & REC_LAUNCH_QOS) {
        memcpy(&qos, at + launch_record_qos(r.param_bytes), sizeof(qos));
        deadline = qos.deadline_ns ? qos.deadline_ns : deadline;
    }
    memcpy(&submitted, at + launch_record_time(r.h.flags, r.param_bytes), sizeof(submitted));
    return deadline && deadline <= QOS_DEADLINE_MAX_NS ? submitted + deadline : 0;
}
