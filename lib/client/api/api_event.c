/*
 * api_event.c - events. For this process an event is a position in a stream: the event is complete
 * when the stream is complete up to that position. The server keeps a driver's event with the same
 * number, for waits on the device and for elapsed times.
 */
#include <stdlib.h>

#include "client/base/error.h"
#include "client/submit/event_watch.h"
#include "client/submit/submit.h"
#include "client/submit/sync_request.h"
#include "client/submit/wait.h"

gs_status gs_event_create(gs_session session_handle, gs_event *handle)
{
    struct session *session;
    struct event *event;
    uint64_t made;
    gs_status status;

    if (!handle)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_event pointer is NULL");
    status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    event = calloc(1, sizeof(*event));
    status = event ? object_publish(session, HANDLE_EVENT, event, &made)
                   : error_set(GS_ERR_NO_MEMORY, "no memory for an event");
    if (status == GS_OK)
        *handle = (gs_event)(uintptr_t)made;
    else
        free(event);
    session_leave(session);
    return status;
}

gs_status gs_event_destroy(gs_event handle)
{
    struct handle h = handle_decode(handle);
    struct session *session;
    struct event *event;
    gs_status status = session_use(h, HANDLE_EVENT, &session);

    if (status != GS_OK)
        return status;
    event = object_retire(session, h);
    if (event)
        object_release(session, h);
    else
        status = handle_unknown(h, "event");
    free(event);
    session_leave(session);
    return status;
}

/* Copies the position that the event captured last. */
static gs_status event_read(struct session *session, gs_event handle, struct event *captured)
{
    const struct event *event;

    pthread_mutex_lock(&session->object_lock);
    event = object_find(session, HANDLE_EVENT, handle);
    if (event)
        *captured = *event;
    pthread_mutex_unlock(&session->object_lock);
    return event ? GS_OK : handle_unknown(handle_decode(handle), "event");
}

/* Makes the end of the committed record the event's captured position. The caller holds the
 * stream's lock. */
static gs_status event_capture(struct session *session, struct handle h,
                               const struct stream *stream)
{
    struct event *event;

    pthread_mutex_lock(&session->object_lock);
    event = handle_lookup(&session->events, h.slot, h.generation);
    if (event)
        *event = (struct event){stream->number, stream->tail};
    pthread_mutex_unlock(&session->object_lock);
    return event ? GS_OK : handle_unknown(h, "event");
}

static gs_status event_record(struct session *session, struct stream *stream, gs_event handle)
{
    struct handle h = handle_decode(handle);
    struct event before;
    struct rec_event *record;
    gs_status status = event_read(session, handle, &before);

    if (status == GS_OK)
        status = stream_reserve(session, stream, sizeof(*record), (void **)&record);
    if (status != GS_OK)
        return status;
    *record = (struct rec_event){
        .h = {.op = REC_EVENT, .size = sizeof(*record)},
        .event = h.slot,
        .serial = atomic_fetch_add_explicit(&session->event_records, 1, memory_order_relaxed) + 1};
    stream_commit(session, stream, sizeof(*record));
    return event_capture(session, h, stream);
}

gs_status gs_event_record(gs_event handle, gs_stream stream_handle)
{
    struct session *session;
    struct stream *stream;
    gs_status status = stream_call_begin(handle_decode(handle), HANDLE_EVENT, stream_handle,
                                         "gs_event_record", &session, &stream);

    if (status != GS_OK)
        return status;
    return stream_call_end(session, stream, event_record(session, stream, handle));
}

static gs_status wait_record(struct session *session, struct stream *stream, gs_event handle,
                             const struct event *captured)
{
    struct rec_wait *record;
    gs_status status;

    /* No record is needed if the event was never recorded, is of this stream, or is complete. */
    if (!captured->position || captured->stream == stream->number ||
        position_passed(position_complete(session, captured->stream), captured->position))
        return GS_OK;
    status = stream_reserve(session, stream, sizeof(*record), (void **)&record);
    if (status != GS_OK)
        return status;
    *record = (struct rec_wait){
        .h = {.op = REC_WAIT, .size = sizeof(*record)},
        .event = handle_decode(handle).slot,
        .stream = captured->stream,
        .position = captured->position,
    };
    stream_commit(session, stream, sizeof(*record));
    waits_note(&session->waits, stream->number, stream->tail, captured->stream, captured->position);
    return GS_OK;
}

gs_status gs_stream_wait_event(gs_stream stream_handle, gs_event handle)
{
    struct session *session;
    struct stream *stream;
    struct event captured;
    gs_status status = stream_call_begin(handle_decode(handle), HANDLE_EVENT, stream_handle,
                                         "gs_stream_wait_event", &session, &stream);

    if (status != GS_OK)
        return status;
    status = event_read(session, handle, &captured);
    if (status == GS_OK)
        status = wait_record(session, stream, handle, &captured);
    return stream_call_end(session, stream, status);
}

/* Waits for the event. deadline_ns 0: no deadline. */
static gs_status event_sync(gs_event handle, uint64_t deadline_ns)
{
    struct session *session;
    struct event captured;
    gs_status status = session_use(handle_decode(handle), HANDLE_EVENT, &session);

    if (status != GS_OK)
        return status;
    status = event_read(session, handle, &captured);
    if (status == GS_OK && captured.position)
        status = wait_position_until(session, captured.stream, captured.position, deadline_ns);
    status = wait_end(session, status);
    session_leave(session);
    return status;
}

gs_status gs_event_sync(gs_event handle)
{
    return event_sync(handle, 0);
}

gs_status gs_event_sync_for(gs_event handle, uint64_t timeout_ns)
{
    return event_sync(handle, wait_deadline(timeout_ns));
}

gs_status gs_event_fd(gs_event handle, int *fd)
{
    struct session *session;
    struct event captured;
    gs_status status;

    if (!fd)
        return error_set(GS_ERR_INVALID_VALUE, "the descriptor's pointer is NULL");
    status = session_use(handle_decode(handle), HANDLE_EVENT, &session);
    if (status != GS_OK)
        return status;
    status = event_read(session, handle, &captured);
    if (status == GS_OK)
        status = event_watch(session, captured.stream, captured.position, fd);
    session_leave(session);
    return status;
}

static gs_status event_ready(struct session *session, const struct event *captured)
{
    return !captured->position || waits_passed(&session->waits, session->complete, captured->stream,
                                               captured->position)
               ? GS_OK
               : GS_NOT_READY;
}

gs_status gs_event_query(gs_event handle)
{
    struct session *session;
    struct event captured;
    gs_status status = session_use(handle_decode(handle), HANDLE_EVENT, &session);

    if (status != GS_OK)
        return status;
    status = event_read(session, handle, &captured);
    if (status == GS_OK)
        status = event_ready(session, &captured);
    status = fault_check(session, status);
    session_leave(session);
    return status;
}

/* Checks for the caller's mistakes, before the device's progress could hide them. */
static gs_status elapsed_check(struct session *session, gs_event start, gs_event end)
{
    struct event from, to;
    gs_status status = event_read(session, start, &from);

    if (status == GS_OK)
        status = event_read(session, end, &to);
    if (status != GS_OK)
        return status;
    if (!from.position || !to.position)
        return error_set(GS_ERR_INVALID_VALUE, "the %s event was never recorded",
                         from.position ? "end" : "start");
    status = event_ready(session, &from);
    return status == GS_OK ? event_ready(session, &to) : status;
}

gs_status gs_event_elapsed(gs_event start, gs_event end, float *milliseconds)
{
    struct session *session;
    gs_status status;

    if (!milliseconds)
        return error_set(GS_ERR_INVALID_VALUE, "milliseconds is NULL");
    status = session_use(handle_decode(start), HANDLE_EVENT, &session);
    if (status != GS_OK)
        return status;
    status = elapsed_check(session, start, end);
    if (status == GS_OK) {
        struct sync_request request = {
            .op = REQ_EVENT_ELAPSED,
            .arg = {handle_decode(start).slot, handle_decode(end).slot},
        };
        status = sync_request(session, &request);
        if (status == GS_OK)
            *milliseconds = (float)((double)(int64_t)request.ret[0] / 1e6);
    }
    session_leave(session);
    return status;
}
