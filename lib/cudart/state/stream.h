/*
 * stream.h - streams, and the order that the legacy default stream keeps with the others.
 *
 * A session's default stream is the legacy stream here. Its work waits for all earlier work of
 * blocking streams (those made without cudaStreamNonBlocking), and their later work waits for its.
 * libgshare's streams do not do that by themselves, so each operation stands between stream_enter,
 * which makes the stream wait where it must, and stream_leave, which notes that there is work.
 * While there are no blocking streams, or only they have work, both are a few loads and stores; a
 * lock is taken where work changes over from one side to the other.
 */
#ifndef GS_CUDART_STREAM_H
#define GS_CUDART_STREAM_H

#include <stdatomic.h>

#include "cudart/abi.h"
#include "cudart/state/device.h"
#include "cudart/state/ring.h"
#include "gshare.h"

/* The attributes that a stream keeps for who asks: access policy, synchronisation, domains. */
#define STREAM_ATTRIBUTES 4
#define STREAM_LEGACY_ID  1u

/* How far a device's legacy stream is, and whether there are streams that keep an order with it. */
struct legacy_order {
    _Atomic uint64_t legacy_work; /* operations of the legacy stream so far */
    _Atomic unsigned blocking;    /* streams that it synchronises with */
};

struct stream {
    struct legacy_order *order; /* one for all streams of a device */
    gs_stream handle;           /* its ring's; NULL: the legacy stream */
    struct ring *ring;
    gs_event end; /* at the end of its work, as far as `end_state` says; see ring.h */
    enum ring_end_state end_state;
    unsigned device; /* its number */
    bool records;    /* a session's graph is recorded there */
    bool blocking;
    unsigned flags;
    int priority;
    uint64_t id;          /* STREAM_LEGACY_ID, or a greater number */
    _Atomic bool working; /* work since the legacy stream waited last; of a blocking one */
    cudaLaunchAttributeValue attributes[STREAM_ATTRIBUTES]; /* hints, by stream_attribute */
    _Atomic uint64_t legacy_seen; /* the legacy stream's work that this one waits for already */
    /* While the stream captures: see graph/capture.h, which alone writes these. */
    _Atomic(struct capture *) capture; /* NULL: it does not */
    struct stream *capture_next;
    cudaGraphNode_t *captured; /* the nodes that its next one comes after */
    size_t captured_count, captured_room;
};

static inline bool stream_is_legacy(const struct stream *stream)
{
    return stream->id == STREAM_LEGACY_ID;
}

static inline bool stream_capturing(const struct stream *stream)
{
    return atomic_load_explicit(&stream->capture, memory_order_relaxed) != NULL;
}

/* The stream that a handle means: 0 is the current device's legacy stream, or the thread's own
 * where the caller is compiled for per-thread default streams. The call works on the stream's
 * device. cudaErrorInvalidResourceHandle: none. Attaches. */
cudaError_t stream_find(cudaStream_t handle, bool per_thread, struct stream **stream);
/* The legacy stream of a device, which is attached. */
struct stream *stream_legacy(unsigned number);
cudaError_t stream_new(unsigned flags, int priority, cudaStream_t *handle);
/* Ends the stream; what it was given goes on. cudaErrorStreamCaptureUnsupported: the stream
 * captures. */
cudaError_t stream_end(cudaStream_t handle);
/* The session of the call's device is gone, and all its streams with it. */
void streams_forget(void);

/* GS_OK: all streams of the call's device are idle. */
gs_status streams_query(void);

/* Waits for all that the stream's next operation would come after. */
cudaError_t stream_wait_earlier(struct stream *stream);
/* Has what comes next in the stream's order go to the device: *at, where it has gone so far,
 * becomes the stream, or one beside it that is the thread's own. No stream waits for another
 * device's work: where *at changes, the caller waits for what was given to it. The call works on
 * the device. */
cudaError_t stream_go_on(struct stream *stream, unsigned device, struct stream **at);

/* Waits for the stream's own work, or asks about it. */
static inline gs_status stream_wait(struct stream *stream)
{
    return ring_wait(stream->ring, stream);
}

static inline gs_status stream_query(struct stream *stream)
{
    return ring_query(stream->ring, stream);
}

gs_status stream_join_slow(struct stream *stream);
/* The code for what an operation on the stream returned. */
cudaError_t stream_error(struct stream *stream, gs_status status);

/* Makes the stream wait where it must. */
static inline gs_status stream_order(struct stream *stream)
{
    if (stream_is_legacy(stream)) {
        /* Acquire: pairs with stream_new, of which this thread knows only if it is ordered. */
        if (atomic_load_explicit(&stream->order->blocking, memory_order_acquire) == 0)
            return GS_OK;
    } else if (!stream->blocking ||
               atomic_load_explicit(&stream->legacy_seen, memory_order_acquire) ==
                   atomic_load_explicit(&stream->order->legacy_work, memory_order_acquire)) {
        return GS_OK;
    }
    return stream_join_slow(stream);
}

/* Before an operation on the stream. */
static inline gs_status stream_enter(struct stream *stream)
{
    gs_status status = stream_order(stream);

    if (status == GS_OK && ring_shared(stream->ring))
        ring_turn_slow(stream->ring, stream);
    return status;
}

/* After it: a later operation of the other side, also in another thread that was told of this one,
 * finds that there is work. So it comes after the operation, not before. */
static inline void stream_leave(struct stream *stream)
{
    if (stream_is_legacy(stream))
        atomic_fetch_add_explicit(&stream->order->legacy_work, 1, memory_order_release);
    else if (stream->blocking && !atomic_load_explicit(&stream->working, memory_order_relaxed))
        atomic_store_explicit(&stream->working, true, memory_order_release);
    if (ring_shared(stream->ring))
        ring_leave_slow(stream->ring, stream);
}

#endif
