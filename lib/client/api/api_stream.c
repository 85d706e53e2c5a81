/* api_stream.c - streams: making, destroying, waiting. */
#include "client/base/error.h"
#include "client/control/qos.h"
#include "client/memory/freed.h"
#include "client/submit/recording.h"
#include "client/submit/submit.h"
#include "client/submit/sync_request.h"
#include "client/submit/wait.h"

static gs_status stream_adopt(struct session *session, uint64_t number, gs_stream *handle)
{
    struct stream *stream;
    uint32_t generation = handle_generation();

    if (number == 0 || number >= SEG_STREAMS)
        return error_set(GS_ERR_PROTOCOL, "the server made stream %llu, not 1 to %u",
                         (unsigned long long)number, SEG_STREAMS - 1);
    stream = &session->stream[number];
    pthread_mutex_lock(&stream->lock);
    /* A reused stream number continues at the position where its former stream ended. */
    stream->tail = position_tail(session, stream->number);
    stream->complete = position_complete(session, stream->number);
    stream->ring = session->segment + SEG_OFF_RINGS + number * SEG_RING_BYTES;
    atomic_store_explicit(&stream->generation, generation, memory_order_relaxed);
    pthread_mutex_unlock(&stream->lock);
    *handle = (gs_stream)(uintptr_t)handle_encode(HANDLE_STREAM, session->index, (uint32_t)number,
                                                  generation);
    return GS_OK;
}

gs_status gs_stream_create(gs_session session_handle, const gs_qos *given, gs_stream *handle)
{
    struct session *session;
    gs_qos qos = GS_QOS_INIT;
    gs_status status;

    if (!handle)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_stream pointer is NULL");
    status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = given ? qos_for_stream(session, given, &qos) : GS_OK;
    if (status == GS_OK) {
        struct sync_request request = {
            .op = REQ_STREAM_CREATE,
            .arg = {(uint64_t)(int64_t)qos.priority, (uint64_t)qos.cls, given != NULL},
        };
        status = sync_request(session, &request);
        if (status == GS_OK)
            status = stream_adopt(session, request.ret[0], handle);
    }
    session_leave(session);
    return status;
}

/* Ends the stream's handle. Threads that wait for the lock find the handle ended. */
static gs_status stream_retire(struct session *session, gs_stream handle, uint32_t *number)
{
    struct stream *stream;
    gs_status status = stream_lock(session, handle, &stream);

    if (status != GS_OK)
        return status;
    if (stream->number == 0)
        status = error_set(GS_ERR_INVALID_VALUE, "the default stream cannot be destroyed");
    else
        status = stream_not_recording(stream, "gs_stream_destroy");
    if (status == GS_OK) {
        *number = stream->number;
        atomic_store_explicit(&stream->generation, 0, memory_order_relaxed);
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

gs_status gs_stream_destroy(gs_stream handle)
{
    struct session *session;
    uint32_t number;
    gs_status status;

    if (!handle)
        return error_set(GS_ERR_INVALID_VALUE, "the default stream cannot be destroyed");
    status = session_use(handle_decode(handle), HANDLE_STREAM, &session);
    if (status != GS_OK)
        return status;
    status = stream_retire(session, handle, &number);
    if (status == GS_OK)
        status = wait_position(session, number, position_tail(session, number));
    if (status == GS_OK) {
        struct sync_request request = {.op = REQ_STREAM_DESTROY, .arg = {number}};
        status = sync_request(session, &request);
    }
    session_leave(session);
    return status;
}

/* Waits for the stream. deadline_ns 0: no deadline. */
static gs_status stream_sync(gs_session session_handle, gs_stream handle, uint64_t deadline_ns)
{
    struct session *session;
    struct stream *stream;
    gs_status status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = stream_find(session, handle, &stream);
    if (status == GS_OK)
        status = stream_not_recording(stream, "gs_stream_sync");
    if (status == GS_OK)
        status = wait_position_until(session, stream->number,
                                     position_tail(session, stream->number), deadline_ns);
    status = wait_end(session, status);
    if (status == GS_OK)
        freed_settle(session);
    session_leave(session);
    return status;
}

gs_status gs_stream_sync(gs_session session_handle, gs_stream handle)
{
    return stream_sync(session_handle, handle, 0);
}

gs_status gs_stream_sync_for(gs_session session_handle, gs_stream handle, uint64_t timeout_ns)
{
    return stream_sync(session_handle, handle, wait_deadline(timeout_ns));
}

gs_status gs_stream_query(gs_session session_handle, gs_stream handle)
{
    struct session *session;
    struct stream *stream;
    gs_status status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = stream_find(session, handle, &stream);
    if (status == GS_OK)
        status = stream_not_recording(stream, "gs_stream_query");
    if (status == GS_OK && !waits_passed(&session->waits, session->complete, stream->number,
                                         position_tail(session, stream->number)))
        status = GS_NOT_READY;
    status = fault_check(session, status);
    session_leave(session);
    return status;
}

gs_status gs_sync(gs_session session_handle)
{
    struct session *session;
    gs_status status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = wait_all(session);
    status = wait_end(session, status);
    if (status == GS_OK)
        freed_settle(session);
    session_leave(session);
    return status;
}
