/* submit.c - see submit.h. */
#include "client/submit/submit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/base/error.h"
#include "client/submit/recording.h"
#include "client/submit/wait.h"
#include "common/log.h"

gs_status stream_find(struct session *session, gs_stream handle, struct stream **stream)
{
    struct handle h = handle_decode(handle);

    if (!handle) {
        *stream = &session->stream[0];
        return GS_OK;
    }
    if (h.kind == HANDLE_STREAM && h.session == session->index && h.slot < SEG_STREAMS &&
        h.generation &&
        atomic_load_explicit(&session->stream[h.slot].generation, memory_order_relaxed) ==
            h.generation) {
        *stream = &session->stream[h.slot];
        return GS_OK;
    }
    return handle_unknown(h, "stream");
}

gs_status stream_lock(struct session *session, gs_stream handle, struct stream **stream)
{
    struct stream *found;
    gs_status status = stream_find(session, handle, &found);

    if (status != GS_OK)
        return status;
    pthread_mutex_lock(&found->lock);
    /* gs_stream_destroy changes the generation under the lock, so this second check is final. */
    if (handle && atomic_load_explicit(&found->generation, memory_order_relaxed) !=
                      handle_decode(handle).generation) {
        pthread_mutex_unlock(&found->lock);
        return handle_unknown(handle_decode(handle), "stream");
    }
    *stream = found;
    return GS_OK;
}

gs_status stream_unlock(struct stream *stream, gs_status status)
{
    struct recording *recording = atomic_load_explicit(&stream->recording, memory_order_relaxed);

    if (recording && status != GS_OK)
        recording_fail(recording, status, error_last());
    pthread_mutex_unlock(&stream->lock);
    return status;
}

gs_status stream_finish(struct session *session, struct stream *stream, gs_status status, bool wait)
{
    const uint64_t position = stream->tail;

    status = stream_unlock(stream, status);
    if (!wait)
        return status;
    if (status == GS_OK)
        status = wait_position(session, stream->number, position);
    return wait_end(session, status);
}

gs_status stream_not_recording(const struct stream *stream, const char *what)
{
    if (!atomic_load_explicit(&stream->recording, memory_order_relaxed))
        return GS_OK;
    return error_set(GS_ERR_RECORDING, "stream %u is recording a graph, and %s is not recorded",
                     stream->number, what);
}

gs_status stream_call_begin(struct handle handle, enum handle_kind kind, gs_stream stream_handle,
                            const char *what, struct session **session, struct stream **stream)
{
    gs_status status = session_use(handle, kind, session);

    if (status != GS_OK)
        return status;
    status = stream_lock(*session, stream_handle, stream);
    if (status != GS_OK) {
        session_leave(*session);
        return status;
    }
    status = stream_not_recording(*stream, what);
    return status == GS_OK ? GS_OK : stream_call_end(*session, *stream, status);
}

gs_status stream_call_end(const struct session *session, struct stream *stream, gs_status status)
{
    pthread_mutex_unlock(&stream->lock);
    session_leave(session);
    return status;
}

/* Waits until a quarter of the ring is free, or `bytes` where these are more; the device works on
 * the rest meanwhile. If a caller waited only for the room of its record, each completion would let
 * one record in, and the worker would issue each record alone. An H200 runs 350,000 launches a
 * second that way, and over a million if they are issued many at a time. */
static gs_status ring_await(struct session *session, struct stream *stream, uint32_t bytes)
{
    const uint32_t room = bytes > SEG_RING_BYTES / 4 ? bytes : SEG_RING_BYTES / 4;
    const uint64_t needed = stream->tail - (SEG_RING_BYTES - room);
    gs_status status = wait_position(session, stream->number, needed);

    if (status == GS_OK)
        stream->complete = position_complete(session, stream->number);
    return status;
}

static void pad_put(const struct stream *stream, uint32_t pad)
{
    struct rec_header header = {.op = REC_PAD, .size = pad};

    memcpy(stream->ring + ring_offset(stream->tail), &header, sizeof(header));
}

/* Waits until a record of `size` bytes fits with its padding. */
static gs_status ring_make_room(struct session *session, struct stream *stream, uint32_t size)
{
    uint32_t pad = ring_pad(stream->tail, size);

    if (ring_pads_ahead(stream->tail, size)) {
        gs_status status = ring_await(session, stream, pad);
        if (status != GS_OK)
            return status;
        pad_put(stream, pad);
        stream_commit(session, stream, pad);
        pad = 0;
    }
    return ring_await(session, stream, pad + size);
}

gs_status stream_reserve(struct session *session, struct stream *stream, uint32_t size,
                         void **record)
{
    struct recording *recording = atomic_load_explicit(&stream->recording, memory_order_relaxed);
    uint32_t pad;

    if (recording)
        return recording_reserve(recording, size, record);
    if (!ring_fits(stream->tail, stream->complete, size)) {
        gs_status status = ring_make_room(session, stream, size);
        if (status != GS_OK)
            return status;
    }
    pad = ring_pad(stream->tail, size);
    if (pad)
        pad_put(stream, pad);
    *record = stream->ring + ring_offset(stream->tail + pad);
    return GS_OK;
}

#define BELL_TRIES    200u
#define BELL_PAUSE_NS 1000000

/* Sends the doorbell message, which makes the worker read the activity words. The slot in it is a
 * hint. */
static void bell_ring(struct session *session)
{
    char message[BELL_MESSAGE_SIZE];
    unsigned tries = 0;
    int result;

    memcpy(message, &session->info.slot, sizeof(message));
    /* The kernel may lack memory for the message for a moment. Without the message the worker
     * might sleep on, and the caller wait without end, so the call is repeated. */
    while ((result = mq_send(session->bell, message, sizeof(message), 0)) < 0 && errno != EAGAIN &&
           ++tries < BELL_TRIES) {
        if (errno != EINTR)
            nanosleep(&(struct timespec){.tv_nsec = BELL_PAUSE_NS}, NULL);
    }
    /* EAGAIN: the queue is full of other wake-ups, any of which suffices. */
    if (result < 0 && errno != EAGAIN) {
        log_error("event=doorbell-failed doorbell=%s reason=%s", session->info.bell,
                  strerror(errno));
        /* The next submission rings again. */
        atomic_store_explicit(&session->server_page->need_bell, 1, memory_order_relaxed);
    }
}

void activity_signal(struct session *session, unsigned bit)
{
    _Atomic uint64_t *activity = &session->client->activity;
    uint64_t mask = UINT64_C(1) << bit;

    /* The caller's store and this load are seq_cst, and so are the worker's exchange of
     * activity and its later loads of tails and request state. So if the bit is set here, the
     * exchange is still to come, and the loads after it see the store. (ThreadSanitizer does not
     * know fences.) */
    if (!(atomic_load_explicit(activity, memory_order_seq_cst) & mask))
        atomic_fetch_or_explicit(activity, mask, memory_order_seq_cst);
    /* Before the worker stops polling it sets need_bell and then reads activity once more, both
     * seq_cst. So either the worker sees the bit or this thread sees need_bell. The exchange
     * lets one of several threads ring. */
    if (atomic_load_explicit(&session->server_page->need_bell, memory_order_seq_cst) &&
        atomic_exchange_explicit(&session->server_page->need_bell, 0, memory_order_seq_cst))
        bell_ring(session);
}

void stream_commit(struct session *session, struct stream *stream, uint32_t size)
{
    struct recording *recording = atomic_load_explicit(&stream->recording, memory_order_relaxed);

    if (recording) {
        recording_commit(recording, size);
        return;
    }
    stream->tail += ring_pad(stream->tail, size) + size;
    /* seq_cst: before activity_signal's load of the activity word. A release store could pass that
     * load, and the worker could take the bit without seeing the record. */
    atomic_store(&session->client->tail[stream->number], stream->tail);
    activity_signal(session, stream->number);
}
