/*
 * stream.c - a session's streams and events.
 *
 * When a stream number is used again, the new stream continues from the ring positions where its
 * predecessor ended, so that a completion word never goes backwards. A stream gets its CUDA stream
 * at its first use, from the pool or newly made.
 */
#include "worker/submit/stream.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/qos_class.h"
#include "common/ring.h"
#include "common/unfinished.h"
#include "worker/blas/workspace.h"
#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/driver_memory.h"
#include "worker/memory/server_memory.h"
#include "worker/sched/completed.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/sched/priority.h"
#include "worker/submit/graph_cache.h"
#include "worker/submit/pool.h"
#include "worker/submit/product_graph.h"

/* The server memory that is charged for an event: about what a driver keeps of it. */
#define EVENT_SERVER_BYTES 512u

void stream_grant(const struct session *session, struct stream *stream)
{
    const struct link_grant *grant = &session->grant.link;
    int32_t priority = grant->priority;

    stream->cls = grant->cls;
    if (stream->own_qos) {
        stream->cls = class_lower(stream->own_cls, grant->cls);
        priority =
            stream->own_priority < grant->priority_max ? stream->own_priority : grant->priority_max;
    }
    stream->priority = stream_priority(stream->cls, priority);
}

CUresult stream_make(struct session *session, struct stream *stream)
{
    if (!stream->inflight)
        stream->inflight = inflight_new(session, (uint32_t)(stream - session->submit.streams));
    if (!stream->inflight) {
        driver_failed("stream_make", CUDA_ERROR_OUT_OF_MEMORY);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    stream->cu_priority = stream->priority;
    stream->context = session->lane->context;
    const CUresult result = pool_get_stream(&stream->cu, &stream->cu_priority, &stream->context);
    thread_context_set(session->lane->context);
    return result;
}

bool session_has_kernels(const struct session *session)
{
    bool has = session->inflight.by_word;

    for (uint64_t left = session->inflight.busy; left && !has; left &= left - 1) {
        const struct inflight *inflight = session->inflight.stream[__builtin_ctzll(left)];
        has = inflight && inflight_has_kernels(inflight);
    }
    return has;
}

uint64_t session_busy_streams(const struct session *session)
{
    uint64_t busy = session->inflight.awaiting_fence | session->inflight.by_word;

    for (uint64_t left = session->inflight.busy & ~busy; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (stream_completed(session, i) < session->submit.streams[i].issued)
            busy |= UINT64_C(1) << i;
    }
    return busy;
}

bool session_seems_idle(const struct session *session)
{
    for (uint64_t left = session->inflight.busy; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (stream_completed(session, i) < session->submit.streams[i].issued)
            return false;
    }
    return true;
}

bool session_transferred(const struct session *session)
{
    for (uint64_t left = session->inflight.busy; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (stream_completed(session, i) < session->submit.streams[i].transferred)
            return false;
    }
    return true;
}

bool session_caught_up(const struct session *session)
{
    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        const struct stream *stream = &session->submit.streams[i];
        if (stream->open &&
            (stream->issued < stream->again || stream_completed(session, i) < stream->again))
            return false;
    }
    return true;
}

uint32_t stream_unfinished(const struct session *session)
{
    uint32_t i = 0;

    for (uint64_t left = session->inflight.busy; left; left &= left - 1) {
        i = (uint32_t)__builtin_ctzll(left);
        if (stream_completed(session, i) < session->submit.streams[i].issued)
            break;
    }
    return i;
}

bool streams_idle(struct session *session)
{
    bool idle = true;

    for (uint64_t left = session->inflight.busy; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        thread_context_set(session->submit.streams[i].context);
        const CUresult result = DRV_ASK(cuStreamQuery, session->submit.streams[i].cu);
        thread_context_set(session->lane->context);
        if (result == CUDA_ERROR_NOT_READY) {
            idle = false;
            continue;
        }
        inflight_settle(session->submit.streams[i].inflight);
        session->inflight.busy &= ~(UINT64_C(1) << i);
    }
    return idle;
}

/* Makes the CUDA event of a slot, for which the caller has charged the user. */
static CUresult event_make(struct session *session, uint32_t slot)
{
    CUevent made = NULL;

    if (!session->submit.events)
        session->submit.events = calloc(SEG_EVENTS, sizeof(*session->submit.events));
    if (!session->submit.events) {
        driver_failed("event_make", CUDA_ERROR_OUT_OF_MEMORY);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = DRV(cuEventCreate, &made, CU_EVENT_DEFAULT);
    if (result)
        return result;
    session->submit.events[slot].cu = made;
    if (slot >= session->submit.events_end)
        session->submit.events_end = slot + 1;
    return CUDA_SUCCESS;
}

CUresult event_slot(struct session *session, uint32_t slot, struct event **event)
{
    CUresult result = CUDA_SUCCESS;

    *event = NULL;
    if (!session->submit.events || !session->submit.events[slot].cu) {
        if (!server_memory_charge_user(session, EVENT_SERVER_BYTES)) {
            session->submit.events_short = true;
            return CUDA_SUCCESS;
        }
        result = event_make(session, slot);
    }
    if (result)
        server_memory_discharge_user(session, EVENT_SERVER_BYTES);
    else
        *event = &session->submit.events[slot];
    return result;
}

bool stream_move(struct session *session, struct stream *stream, struct partition *context)
{
    struct partition *found = context;
    int priority = stream->priority;
    CUstream other;

    if (!stream->cu || stream->context == context)
        return true;
    if (session->inflight.busy & UINT64_C(1) << (stream - session->submit.streams))
        return false;
    CUresult result = pool_get_stream(&other, &priority, &found);
    lost_check(result);
    if (result)
        return false;
    const bool moved = found == context;
    if (!pool_put_stream(moved ? stream->cu : other, moved ? stream->cu_priority : priority,
                         moved ? stream->context : found))
        DRV_MUST(cuStreamDestroy_v2, moved ? stream->cu : other);
    if (moved) {
        stream->cu = other;
        stream->cu_priority = priority;
        stream->context = context;
    }
    return moved;
}

bool stream_primary(struct session *session, struct stream *stream)
{
    if (!stream->context)
        return true;
    streams_idle(session);
    const bool moved = stream_move(session, stream, NULL);
    thread_context_set(stream->context);
    return moved;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void create_prepare(struct job *job)
{
    struct session *session = job->session;

    if (job->arg[1] >= CLASSES || (int64_t)job->arg[0] != (int32_t)job->arg[0]) {
        job_fail(job, GS_ERR_INVALID_VALUE, "class %" PRIu64 " or priority %" PRId64 " is none",
                 job->arg[1], (int64_t)job->arg[0]);
        return;
    }
    for (job->index = 1; job->index < SEG_STREAMS && session->submit.streams[job->index].open;)
        job->index++;
    if (job->index == SEG_STREAMS)
        job_fail(job, GS_ERR_LIMIT, "the session has %u streams, the limit", SEG_STREAMS);
    else
        driver_memory_charge_job(job, DRIVER_STREAM);
}

static void stream_note(const struct session *session, uint32_t index)
{
    const struct stream *stream = &session->submit.streams[index];
    const struct journal_stream note = {stream->open, stream->own_qos, stream->own_cls,
                                        stream->own_priority};

    journal_stream(session->journal, index, &note);
}

static void create_install(struct job *job)
{
    struct stream *stream = &job->session->submit.streams[job->index];

    stream->launches = 0;
    memset(&stream->faults, 0, sizeof(stream->faults));
    stream->faults.next_position = stream->head;
    stream->own_qos = job->arg[2] != 0;
    stream->own_priority = (int32_t)job->arg[0];
    stream->own_cls = (uint32_t)job->arg[1];
    stream_grant(job->session, stream);
    stream->arrival = (struct arrival){.from = stream->head};
    stream->open = true;
    job_makes(job, JOURNAL_STREAM, job->index);
    stream_note(job->session, job->index);
}

static void create_work(struct job *job)
{
    job->ret[0] = job->index; /* the CUDA stream is made at the stream's first use */
}

static void destroy_prepare(struct job *job)
{
    if (job->arg[0] == 0 || job->arg[0] >= SEG_STREAMS ||
        !job->session->submit.streams[job->arg[0]].open)
        job_fail(job, GS_ERR_INVALID_HANDLE,
                 "stream %" PRIu64 " does not exist or cannot be destroyed", job->arg[0]);
}

static void stream_deinit(struct stream *stream)
{
    graph_cache_free(stream->graph_cache);
    stream->graph_cache = NULL;
    product_graphs_free(stream->product_graphs);
    stream->product_graphs = NULL;
    workspace_free(stream->workspace);
    stream->workspace = NULL;
    inflight_free(stream->inflight);
    stream->inflight = NULL;
    if (stream->cu && !pool_put_stream(stream->cu, stream->cu_priority, stream->context))
        DRV_MUST(cuStreamDestroy_v2, stream->cu);
}

static void destroy_work(struct job *job)
{
    stream_deinit(&job->session->submit.streams[job->arg[0]]);
}

static void destroy_install(struct job *job)
{
    job->session->submit.streams[job->arg[0]].cu = NULL;
    job->session->submit.streams[job->arg[0]].open = false;
    driver_memory_discharge(job->session, DRIVER_STREAM);
    job_removes(job, JOURNAL_STREAM, job->arg[0]);
    stream_note(job->session, (uint32_t)job->arg[0]);
}

static void elapsed_prepare(struct job *job)
{
    const struct session_submit *submit = &job->session->submit;
    const struct event *events = submit->events;
    float milliseconds = 0;

    if (job->arg[0] >= SEG_EVENTS || job->arg[1] >= SEG_EVENTS) {
        job_fail(job, GS_ERR_INVALID_VALUE, "an event that does not exist");
        return;
    }
    if (!events || !events[job->arg[0]].cu || !events[job->arg[1]].cu) {
        if (submit->events_short)
            job_fail(job, GS_ERR_LIMIT,
                     "an event was recorded without its time: the user's sessions had as much of "
                     "the server's memory as they may (user-host-mem)");
        else
            job_fail(job, GS_ERR_INVALID_VALUE, "an event that was never recorded has no time");
        return;
    }
    CUresult result =
        cu->cuEventElapsedTime(&milliseconds, events[job->arg[0]].cu, events[job->arg[1]].cu);
    if (result == CUDA_ERROR_NOT_READY) {
        job_fail(job, GS_NOT_READY, "an event is not complete yet");
    } else if (result) {
        driver_failed("cuEventElapsedTime", result);
        job_fail_driver(job, result);
    }
    job->ret[0] = (uint64_t)(int64_t)((double)milliseconds * 1e6);
}

const struct job_kind job_stream_create = {"stream_create", JOB_QUICK,      create_prepare,
                                           create_work,     create_install, NULL};
const struct job_kind job_stream_destroy = {"stream_destroy", JOB_SESSION_IDLE, destroy_prepare,
                                            destroy_work,     destroy_install,  NULL};
const struct job_kind job_event_elapsed = {
    "event_elapsed", JOB_QUICK, elapsed_prepare, NULL, NULL, NULL};

gs_status streams_resume(struct job *job)
{
    struct session *session = job->session;

    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        struct stream *stream = &session->submit.streams[i];
        struct journal_stream note;
        uint64_t consumed =
            atomic_load_explicit(&session->positions->consumed[i], memory_order_relaxed);
        const uint64_t finished = stream_completed(session, i);

        stream->launches =
            atomic_load_explicit(&session->positions->launches[i], memory_order_relaxed);
        journal_stream_get(session->journal, i, &note);
        stream->open = note.open || i == 0;
        stream->own_qos = note.own_qos;
        stream->own_cls = note.cls;
        stream->own_priority = note.priority;
        if (stream->open && finished < consumed) {
            /* The tenant can write `finished`, so it is checked. */
            if (!job->open.replay || !ring_tail_valid(consumed, finished) || finished % REC_ALIGN)
                return job_fail(job, GS_ERR_INTERRUPTED,
                                "work of stream %" PRIu32 " was not finished", i);
            stream->launches -= unfinished_launches(session->segment, i, finished, consumed);
            stream->again = consumed;
            consumed = finished;
        }
        stream->head = stream->issued = stream->signalled = consumed;
        /* Until the first look, a fault note may be of a launch by a former worker. */
        stream->faults.next_position = consumed;
        if (stream->launches)
            session->submit.unclean |= UINT64_C(1) << i;
        stream->arrival = (struct arrival){.from = consumed};
    }
    return GS_OK;
}

void streams_adopt(struct session *session)
{
    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        if (session->submit.streams[i].open)
            driver_memory_adopt(session, DRIVER_STREAM);
    }
}

void streams_deinit(struct session *session)
{
    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        if (session->submit.streams[i].open)
            stream_deinit(&session->submit.streams[i]);
    }
    for (uint32_t i = 0; i < session->submit.events_end; i++) {
        if (!session->submit.events[i].cu)
            continue;
        DRV_MUST(cuEventDestroy_v2, session->submit.events[i].cu);
        server_memory_discharge_user(session, EVENT_SERVER_BYTES);
    }
    free(session->submit.events);
    session->submit.events = NULL;
    session->submit.events_end = 0;
}
