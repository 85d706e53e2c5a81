/*
 * drain.c - takes the records of a stream's ring and gives their work to the device. Runs on the
 * session's lane.
 *
 * The way of a record, each step in its file:
 *   - fetch: copied out of the tenant's memory once, so that the tenant cannot change the record
 *     after its check (record_copy);
 *   - check: every field of the copy (record.c; override.c for the QoS that a launch asks for);
 *   - place: on SMs, the session's grant or the trimmed partition (placement.c);
 *   - gather: a launch joins the batch; any other record first has the batch issued;
 *   - issue: the batch as exec graphs (launch.c), a copy or memset (record.c), an event or wait
 *     (below), a captured graph (graph.c), or nothing for a host function, whose return is waited
 *     for; completion word and fence tell the end (completion.c);
 *   - account: what was issued (account.c); the inflight tracker reads the fence (inflight.c).
 */
#include "worker/submit/drain.h"

#include <stdio.h>
#include <string.h>

#include "common/ring.h"
#include "common/util.h"
#include "worker/journal/journal.h"
#include "worker/partition/partition.h"
#include "worker/sched/estimate.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/sched/trace.h"
#include "worker/submit/account.h"
#include "worker/submit/completion.h"
#include "worker/submit/cooperative.h"
#include "worker/submit/graph.h"
#include "worker/submit/override.h"
#include "worker/submit/placement.h"
#include "worker/submit/product.h"
#include "worker/submit/report.h"
#include "worker/submit/session_fault.h"
#include "worker/submit/stream.h"

#define FENCE_NS 500000u /* the end is told after each piece of work thought to take so long */

/* The batch: launches gathered from one stream. Each lane, which is a thread, has its own; the
 * batch is empty between two drains. */
static _Thread_local struct {
    uint32_t count;
    struct launch launch[LAUNCHES_MAX];
    _Alignas(16) unsigned char record[LAUNCHES_MAX][REC_SIZE_MAX];
} batch;

/* `launch`: its number, where the driver refused one. */
static void driver_refused(struct session *session, uint32_t stream, CUresult result,
                           const char *kernel, uint64_t launch)
{
    char text[192];

    if (driver_fatal(result))
        device_lost(result);
    driver_describe(text, sizeof(text));
    session_fault(session, &(struct fault){.kind = GS_FAULT_LAUNCH,
                                           .status = driver_status(result),
                                           .stream = stream,
                                           .launch = launch,
                                           .kernel = kernel,
                                           .message = text});
}

/* ---- Issuing --------------------------------------------------------------------------------- */

/* What has become of a record: taken; left in the ring (STALLED, ELSEWHERE, as the drain reports
 * them, or CALLED: until the client's function has returned); or the session has ended. */
enum outcome { TAKEN, STALLED, ELSEWHERE, CALLED, ENDED };

/* Gives the gathered launches to the device. Returns false when the driver refused them. */
static bool batch_issue(struct session *session, uint32_t index, enum completion completion)
{
    struct stream *stream = &session->submit.streams[index];
    uint32_t launches = batch.count, refused = 0;

    if (launches == 0)
        return true;
    batch.count = 0;
    CUresult result = launch_issue(session, stream, batch.launch, launches, completion);
    if (!result)
        return true;
    while (refused + 1 < launches && batch.launch[refused].end <= stream->issued)
        refused++;
    driver_refused(session, index, result, batch.launch[refused].kernel->name,
                   stream->launches - launches + refused + 1);
    return false;
}

static enum outcome rejected(struct session *session, uint32_t index, record_fault fault)
{
    session_fault(session, &(struct fault){.kind = GS_FAULT_REJECTED,
                                           .status = GS_ERR_INVALID_VALUE,
                                           .stream = index,
                                           .message = fault});
    return ENDED;
}

/* Ends the session for a record that asks for what the device cannot do. kernel NULL: it is no
 * launch. */
static enum outcome refused(struct session *session, uint32_t index, gs_status status,
                            const struct kernel *kernel, const char *text)
{
    session_fault(
        session, &(struct fault){.kind = GS_FAULT_LAUNCH,
                                 .status = status,
                                 .stream = index,
                                 .launch = kernel ? session->submit.streams[index].launches + 1 : 0,
                                 .kernel = kernel ? kernel->name : "",
                                 .message = text});
    return ENDED;
}

/* What has become of a record after the driver calls for it. */
static enum outcome after(struct session *session, uint32_t index, CUresult result)
{
    if (!result)
        return TAKEN;
    driver_refused(session, index, result, "", 0);
    return ENDED;
}

/* Applies the QoS that the launch's own record asks for. */
static enum outcome launch_override(struct session *session, uint32_t index,
                                    const unsigned char *record, const struct rec_launch *r,
                                    struct launch *launch, uint64_t *deadline)
{
    struct wire_qos qos;
    gs_status status;
    const char *text;

    memcpy(&qos, record + launch_record_qos(r->param_bytes), sizeof(qos));
    record_fault fault = override_check(&qos);
    if (!fault && qos.deadline_ns && !(r->h.flags & REC_LAUNCH_TIME))
        fault = "a launch with a deadline and without the time of its submission";
    if (!fault && launch->cooperative && qos.affinity_type != GS_EXEC_AFFINITY_NONE)
        fault = "a cooperative launch with an affinity of its own";
    if (fault)
        return rejected(session, index, fault);
    *deadline = qos.deadline_ns ? qos.deadline_ns : *deadline;
    if (batch.count == 0) /* the partitions of gathered launches must stay */
        partitions_keep();
    switch (override_apply(session, &qos, launch, &status, &text)) {
    case OVERRIDE_PLACED:
        return TAKEN;
    case OVERRIDE_WAITS:
        return STALLED;
    default:
        return refused(session, index, status, launch->kernel, text);
    }
}

/* Sets class, priority and partition of a launch whose record asks for none of its own. */
static void launch_place(const struct session *session, const struct stream *stream,
                         struct launch *launch)
{
    launch->cls = stream->cls;
    launch->priority = stream->priority;
    launch->partition = session->grant.partition;
    launch->deadline_ns = 0;
}

/* When the launch was submitted, as its tenant says; now where the tenant gives no time, or a later
 * one. */
static uint64_t launch_submitted(const unsigned char *record, const struct rec_launch *r)
{
    uint64_t now = clock_ns(), submitted = now;

    if (r->h.flags & REC_LAUNCH_TIME)
        memcpy(&submitted, record + launch_record_time(r->h.flags, r->param_bytes),
               sizeof(submitted));
    return submitted < now ? submitted : now;
}

/* Whether any lane may take the launch: it is known to be short, fills so little of the device that
 * no session waits for it, is not cooperative, and asks for no QoS, report or deadline of its own.
 */
static bool launch_light(const struct rec_launch *r, const struct launch *launch)
{
    return !(r->h.flags & REC_LAUNCH_QOS) && !r->report && !launch->deadline_ns &&
           !launch->cooperative && launch->cls == GS_CLASS_NORMAL && estimate_light(launch);
}

/* Moves the stream back to the primary context, where CUDA's events and captured graphs are.
 * Returns false while the stream cannot move. */
static bool stream_primary(struct session *session, struct stream *stream)
{
    if (!stream->home)
        return true;
    streams_idle(session);
    const bool moved = stream_move(session, stream, NULL);
    partition_home(stream->home);
    return moved;
}

static enum outcome take_launch(struct session *session, uint32_t index, unsigned char *record,
                                uint32_t size)
{
    struct stream *stream = &session->submit.streams[index];
    struct launch *launch = &batch.launch[batch.count];
    record_fault fault = record_check_launch(session, record, size, launch);
    struct rec_launch r;

    if (fault)
        return rejected(session, index, fault);
    memcpy(&r, record, sizeof(r));
    launch->end = stream->head + size;
    headroom_blocks(&session->sched.headroom, launch->grid);
    launch_place(session, stream, launch);
    session->submit.light = launch_light(&r, launch) ? session->submit.light + 1 : 0;
    if (session->submit.light == 0 && session->lane->index)
        return ELSEWHERE;
    uint64_t deadline = session->grant.link.deadline_ns;
    if (r.h.flags & REC_LAUNCH_QOS) {
        enum outcome outcome = launch_override(session, index, record, &r, launch, &deadline);
        if (outcome != TAKEN)
            return outcome;
    }
    /* A cooperative launch is as large as the grant allows, and would not fit the trimmed
     * partition. */
    if (launch->partition == session->grant.partition && !launch->cooperative)
        launch->partition = placement_of(session, launch->cls);
    if (!launch->partition)
        launch->partition = stream->home;
    if (deadline)
        launch->deadline_ns = launch_submitted(record, &r) + deadline;
    if (!r.report && !launch->cooperative) {
        batch.count++;
        return TAKEN;
    }
    struct launch alone = *launch;
    uint64_t submitted = launch_submitted(record, &r);
    if (!batch_issue(session, index, COMPLETION_NONE))
        return ENDED;
    const struct partition *home = stream->home;
    if (!stream_primary(session, stream))
        return STALLED;
    if (alone.partition == home)
        alone.partition = NULL;
    char text[192];
    if (alone.cooperative && !cooperative_ready(stream))
        return STALLED;
    if (alone.cooperative && !cooperative_fits(&alone, text, sizeof(text)))
        return refused(session, index, GS_ERR_LAUNCH_CONFIG, alone.kernel, text);
    CUresult result = r.report ? report_launch(session, index, &alone, r.report, submitted)
                               : launch_issue(session, stream, &alone, 1, COMPLETION_NONE);
    if (!result)
        return TAKEN;
    driver_refused(session, index, result, alone.kernel->name, stream->launches + 1);
    return ENDED;
}

static enum outcome take_transfer(struct session *session, uint32_t index,
                                  const unsigned char *record, bool set, uint64_t *bytes)
{
    struct transfer transfer;
    record_fault fault = set ? record_check_memset(session, (const void *)record, &transfer)
                             : record_check_copy(session, (const void *)record, &transfer);

    if (fault)
        return rejected(session, index, fault);
    *bytes = transfer.bytes;
    return after(session, index, transfer_issue(&transfer, session->submit.streams[index].cu));
}

/* A box goes the way of a copy, on the main lane: arrays belong to the primary context. */
static enum outcome take_box(struct session *session, uint32_t index, const struct rec_box *record,
                             uint64_t *bytes)
{
    CUDA_MEMCPY3D copy;
    record_fault fault = record_check_box(session, record, &copy);

    if (fault)
        return rejected(session, index, fault);
    *bytes = copy.WidthInBytes * copy.Height * copy.Depth;
    return after(session, index, DRV(cuMemcpy3DAsync_v2, &copy, session->submit.streams[index].cu));
}

static enum outcome take_event(struct session *session, uint32_t index,
                               const struct rec_event *record)
{
    if (record->event >= SEG_EVENTS)
        return rejected(session, index, "an event that does not exist");
    struct event *event;
    CUresult result = event_slot(session, record->event, &event);
    if (!result)
        result = DRV(cuEventRecord, event->cu, session->submit.streams[index].cu);
    if (!result) {
        event->stream = index;
        event->position = session->submit.streams[index].head + sizeof(*record);
    }
    return after(session, index, result);
}

/* Has the stream wait for all that the device has been given of the other stream. Used where the
 * event has been recorded anew elsewhere since: the wait ends later than asked, never earlier. */
static CUresult wait_for_stream(struct session *session, uint32_t index, uint32_t other)
{
    CUevent now = NULL;

    partition_home(
        session->submit.streams[other].home); /* an event is recorded in its stream's context */
    CUresult result = DRV(cuEventCreate, &now, CU_EVENT_DISABLE_TIMING);
    if (!result)
        result = DRV(cuEventRecord, now, session->submit.streams[other].cu);
    partition_home(session->submit.streams[index].home);
    if (!result)
        result = DRV(cuStreamWaitEvent, session->submit.streams[index].cu, now, 0);
    CUresult destroyed = now ? DRV(cuEventDestroy_v2, now) : CUDA_SUCCESS;
    return result ? result : destroyed;
}

static enum outcome take_wait(struct session *session, uint32_t index,
                              const struct rec_wait *record)
{
    if (record->event >= SEG_EVENTS || record->stream >= SEG_STREAMS)
        return rejected(session, index, "a wait for an event that does not exist");
    const struct stream *other = &session->submit.streams[record->stream];
    if (other->head < record->position)
        return other->open ? STALLED
                           : rejected(session, index, "a wait for a stream that does not exist");
    if (!other->cu)
        return TAKEN; /* a stream that was never used has nothing unfinished */
    const struct event *event =
        session->submit.events ? &session->submit.events[record->event] : NULL;
    if (event && event->cu && event->stream == record->stream &&
        event->position >= record->position)
        return after(session, index,
                     DRV(cuStreamWaitEvent, session->submit.streams[index].cu, event->cu, 0));
    return after(session, index, wait_for_stream(session, index, record->stream));
}

/* The client calls its function when it sees that the stream's work before the record is done, and
 * sets the activity word when the function has returned. So a stream that waits costs the lane
 * nothing. A tenant that writes nonsense has its own stream wait, or go on, too long or too early.
 */
static enum outcome take_host(const struct session *session, uint32_t index)
{
    const uint64_t end = session->submit.streams[index].head + sizeof(struct rec_host);
    /* seq_cst: read after the exchange of the activity word, as the tail is; the client stores it
     * before it sets the bit */
    const uint64_t done = atomic_load(&session->client->host_done[index]);

    return (int64_t)(done - end) >= 0 ? TAKEN : CALLED;
}

static enum outcome take_graph(struct session *session, uint32_t index,
                               const struct rec_graph *record)
{
    CUresult result = CUDA_SUCCESS;
    gs_status status;
    const char *text;

    switch (graph_launch(session, index, record->graph, &result, &status, &text)) {
    case GRAPH_LAUNCHED:
        return after(session, index, result);
    case GRAPH_WAITS:
        return STALLED;
    case GRAPH_INVALID:
        return rejected(session, index, text);
    default:
        return refused(session, index, status, NULL, text);
    }
}

static enum outcome take_gemm(struct session *session, uint32_t index,
                              const struct rec_gemm *record)
{
    gs_status status;
    record_fault fault;
    char text[192];

    switch (product_issue(session, index, record, &fault, &status, text, sizeof(text))) {
    case PRODUCT_ISSUED:
        return TAKEN;
    case PRODUCT_WAITS:
        return STALLED;
    case PRODUCT_INVALID:
        return rejected(session, index, fault);
    default:
        return refused(session, index, status, NULL, text);
    }
}

/* The size of records of a kind, launches excepted. */
static uint32_t record_size(uint32_t op)
{
    return op == REC_BOX    ? sizeof(struct rec_box)
           : op == REC_GEMM ? sizeof(struct rec_gemm)
                            : REC_ALIGN;
}

/* Issues the batch before a record that is no launch. Where kernels are measured apart from copies
 * and waits (launch_apart), a fence follows the kernels. Returns false when the driver refused. */
static bool kernels_issue(struct session *session, uint32_t index, uint32_t next)
{
    struct stream *stream = &session->submit.streams[index];
    const bool other =
        next == REC_COPY || next == REC_MEMSET || next == REC_BOX || next == REC_WAIT;
    const bool apart =
        (other || next == REC_GRAPH || next == REC_GEMM) && launch_apart(session, stream);
    /* The host function is called when the end is told. */
    const bool told = next == REC_HOST || (apart && other);
    CUresult result = CUDA_SUCCESS;

    if (!batch_issue(session, index, told ? COMPLETION_FENCED : COMPLETION_NONE))
        return false;
    if (apart &&
        (other ? inflight_open_kernels(stream->inflight) : inflight_open_others(stream->inflight)))
        result = completion_fence(session, stream, stream->issued);
    if (result)
        driver_refused(session, index, result, "", 0);
    return !result;
}

/* Takes one record, which is the worker's own copy. A record that is no launch first has the batch
 * issued. */
static enum outcome take(struct session *session, uint32_t index, unsigned char *record,
                         uint32_t size)
{
    const struct rec_header *header = (const void *)record;

    if (header->op == REC_LAUNCH && size >= sizeof(struct rec_launch))
        return take_launch(session, index, record, size);
    const bool transfer = header->op == REC_COPY || header->op == REC_MEMSET;
    if (session->lane->index && !transfer)
        return ELSEWHERE;
    if (!transfer)
        session->submit.light = 0;
    if (!kernels_issue(session, index, header->op))
        return ENDED;
    if (size != record_size(header->op))
        return rejected(session, index, "a record of a wrong size");
    if (!transfer && header->op != REC_WAIT && header->op != REC_HOST &&
        !stream_primary(session, &session->submit.streams[index]))
        return STALLED;
    struct stream *stream = &session->submit.streams[index];
    struct issued issued = {.position = stream->head + size};
    enum outcome outcome;
    account_issuing(session, stream);
    switch (header->op) {
    case REC_COPY:
    case REC_MEMSET:
        issued.kind = ISSUED_TRANSFER;
        issued.set = header->op == REC_MEMSET;
        outcome = take_transfer(session, index, record, issued.set, &issued.bytes);
        break;
    case REC_BOX:
        issued.kind = ISSUED_TRANSFER;
        outcome = take_box(session, index, (const void *)record, &issued.bytes);
        break;
    case REC_EVENT:
        issued.kind = ISSUED_EVENT;
        outcome = take_event(session, index, (const void *)record);
        break;
    case REC_WAIT:
        issued.kind = ISSUED_WAIT;
        outcome = take_wait(session, index, (const void *)record);
        break;
    case REC_HOST:
        issued.kind = ISSUED_HOST;
        outcome = take_host(session, index);
        break;
    case REC_GRAPH:
        issued.kind = ISSUED_GRAPH;
        outcome = take_graph(session, index, (const void *)record);
        break;
    case REC_GEMM:
        issued.kind = ISSUED_PRODUCT;
        outcome = take_gemm(session, index, (const void *)record);
        break;
    default:
        return rejected(session, index, "a record of no known kind");
    }
    if (outcome == TAKEN)
        account_issued(session, stream, &issued);
    return outcome;
}

/* Takes the record, and tells the trace, if there is one. */
static enum outcome take_traced(struct session *session, uint32_t index, unsigned char *record,
                                uint32_t size)
{
    if (!trace_of(session))
        return take(session, index, record, size);
    const uint64_t fetched_ns = clock_ns();
    const enum outcome outcome = take(session, index, record, size);
    if (outcome == TAKEN)
        trace_fetched(session, index, record, fetched_ns);
    return outcome;
}

/* ---- Draining -------------------------------------------------------------------------------- */

/* Copies the record at the stream's head out of the ring, and returns the size that the copied
 * header states; 0: the size cannot be right. */
static uint32_t record_copy(const struct session *session, uint32_t index, uint64_t tail,
                            unsigned char *copy)
{
    const struct stream *stream = &session->submit.streams[index];
    const struct rec_header header = ring_header(session, index, stream->head);

    if (header.size < REC_ALIGN || header.size % REC_ALIGN ||
        header.size > ring_to_end(stream->head) || header.size > tail - stream->head)
        return 0;
    if (header.op == REC_PAD) {
        memcpy(copy, &header, sizeof(header));
        return header.size;
    }
    if (header.size > REC_SIZE_MAX)
        return 0;
    memcpy(copy, ring_at(session, index, stream->head), header.size);
    /* The tenant may have changed the header between the two reads; the first read, which was
     * checked, counts. */
    memcpy(copy, &header, sizeof(header));
    return header.size;
}

/* Has the device write the completion word for all that the stream has consumed, unless a write for
 * that position has been issued already. */
static void signal_completion(struct session *session, uint32_t index)
{
    struct stream *stream = &session->submit.streams[index];
    uint64_t position = stream->head;

    if (session->submit.faulted || position == stream->signalled)
        return;
    if (batch.count > 0) {
        bool lone = batch.count == 1 && session->lane->alone &&
                    inflight_may_go_unfenced(stream->inflight, stream->signalled, &batch.launch[0]);
        batch.launch[batch.count - 1].end =
            position; /* a padding may have followed the last launch */
        if (!batch_issue(session, index, lone ? COMPLETION_WRITTEN : COMPLETION_FENCED))
            return;
    } else {
        bool unfenced = inflight_may_go_unfenced(stream->inflight, stream->signalled, NULL);
        CUresult result = unfenced ? completion_write(session, stream, position)
                                   : completion_fence(session, stream, position);
        if (result)
            driver_refused(session, index, result, "", 0);
    }
}

/* How long the record that was just taken is thought to keep the device. */
static uint64_t record_guess(const struct session *session, const struct stream *stream,
                             const unsigned char *record)
{
    const struct rec_launch *launch = (const void *)record;

    if (launch->h.op == REC_LAUNCH)
        return estimate_ns(session->kernels.table[launch->kernel], launch->grid, launch->block);
    return launch->h.op == REC_GRAPH || launch->h.op == REC_GEMM
               ? inflight_guess_graph(stream->inflight)
               : 0;
}

/* Whether the tenant has written more than the stream has taken; *tail: how far. */
static bool tail_read(struct session *session, uint32_t index, uint64_t *tail)
{
    const uint64_t head = session->submit.streams[index].head;
    /* seq_cst: orders the load after the exchange of the activity word, and makes the records
     * before the tail visible; pairs with the client's store of the tail */
    const uint64_t now = atomic_load(&session->client->tail[index]);

    if (now == head)
        return false;
    if (!ring_tail_valid(now, head)) {
        rejected(session, index, "a ring tail beyond the ring");
        return false;
    }
    *tail = now;
    return true;
}

/* Called when all records that were seen are taken and more have come since: the tenant is in the
 * middle of a batch arrival, whose end is told once. Where the device has nothing to do for the
 * stream and no other tenant waits for the lane, the gathered launches go to the device at once.
 * Returns false when the driver refused them. */
static bool arrival_middle(struct session *session, uint32_t index)
{
    return inflight_count(session->submit.streams[index].inflight) > 0 || session->lane->crowded ||
           batch_issue(session, index, COMPLETION_NONE);
}

/* Whether the next record is an event. An event goes with the work before it, beyond the allowance
 * too: otherwise the tenant would learn of the event when the stream's next work ends, which is a
 * turn of all waiting sessions later. The record is not copied here, because a tenant that changes
 * it meanwhile changes only this choice. */
static bool event_next(const struct session *session, uint32_t index)
{
    return ring_header(session, index, session->submit.streams[index].head).op == REC_EVENT;
}

/* Notes for a next worker how far the stream is consumed. Relaxed: who reads it has seen this
 * process end. */
static void consumed_note(const struct session *session, uint32_t index, uint64_t position,
                          uint64_t launches)
{
    if (!session->positions)
        return;
    atomic_store_explicit(&session->positions->consumed[index], position, memory_order_relaxed);
    atomic_store_explicit(&session->positions->launches[index], launches, memory_order_relaxed);
}

uint32_t stream_drain(struct session *session, uint32_t index, struct sched_allowance allowance,
                      enum drained *drained)
{
    uint64_t guessed = 0, unfenced = 0;
    struct stream *stream = &session->submit.streams[index];
    uint32_t taken = 0;
    enum outcome outcome = TAKEN;

    *drained = DRAINED_ALL;
    if (!stream->open || session->submit.faulted)
        return 0;
    CUresult result = stream->cu ? CUDA_SUCCESS : stream_make(session, stream);
    if (result) {
        driver_refused(session, index, result, "", 0);
        return 0;
    }
    partition_home(stream->home);
    uint64_t tail = stream->head;
    while (!session->submit.faulted) {
        bool more = stream->head == tail; /* records beyond those seen */
        if (more && !tail_read(session, index, &tail))
            break;
        if (more && taken == 0) /* what comes in later is taken at once */
            inflight_seen(stream->inflight, tail, session->lane->now);
        if (taken >= allowance.launches ||
            (guessed >= allowance.ns && !event_next(session, index))) {
            *drained = DRAINED_SOME;
            break;
        }
        if (more && !arrival_middle(session, index))
            break;
        if (batch.count == LAUNCHES_MAX && !batch_issue(session, index, COMPLETION_NONE))
            break;
        unsigned char *record = batch.record[batch.count];
        uint32_t size = record_copy(session, index, tail, record);
        if (size == 0) {
            rejected(session, index, "a record of a wrong size");
            break;
        }
        /* Before the record is taken: one that may be on the device counts as consumed. */
        const uint32_t op = ((const struct rec_header *)record)->op;
        consumed_note(session, index, stream->head + size, stream->launches + (op == REC_LAUNCH));
        if (op == REC_PAD)
            arrival_pad(&stream->arrival, size);
        else if ((outcome = take_traced(session, index, record, size)) != TAKEN)
            break;
        uint64_t ns = record_guess(session, stream, record);
        stream->head += size;
        stream->launches += op == REC_LAUNCH;
        guessed += ns;
        unfenced += ns;
        taken++;
        /* The fence behind a long kernel lets the lane refill the stream once that kernel has
         * ended. */
        if (unfenced >= FENCE_NS && !stream->arrival.entire) {
            signal_completion(session, index);
            unfenced = 0;
        }
    }
    signal_completion(session, index);
    batch.count = 0;
    if (stream->head < tail)
        inflight_seen(stream->inflight, tail, session->lane->now);
    partition_home(session->lane->home);
    if (outcome == STALLED || outcome == ELSEWHERE || outcome == CALLED) {
        *drained = outcome == STALLED  ? DRAINED_STALLED
                   : outcome == CALLED ? DRAINED_ALL
                                       : DRAINED_ELSEWHERE;
        /* the record stays for later */
        consumed_note(session, index, stream->head, stream->launches);
    }
    return taken;
}

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
