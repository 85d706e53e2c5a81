/*
 * stream.h - streams, and the order between the legacy default stream and other streams.
 *
 * A session's default stream serves as the legacy stream. Its work waits for all earlier work of
 * blocking streams (those made without cudaStreamNonBlocking), and their later work waits for its
 * work. libgshare's streams do not do that by themselves. So each operation is enclosed by
 * stream_enter, which makes the stream wait if it must, and stream_leave, which records that there
 * is work. While there are no blocking streams, or only blocking streams have work, both cost a few
 * loads and stores; a lock is only taken when work alternates between the two sides.
 */
#ifndef GS_CUDART_STREAM_H
#define GS_CUDART_STREAM_H

#include <stdatomic.h>

#include "cudart/abi.h"
#include "cudart/state/device.h"
#include "cudart/state/ring.h"
#include "gshare.h"

/* Attributes that a stream only keeps, for programs that read them: access policy, synchronisation,
 * domains. */
#define STREAM_ATTRIBUTES 4
#define STREAM_LEGACY_ID  1u

/* How far a device's legacy stream has got, and whether streams are ordered with it. */
struct legacy_order {
    _Atomic uint64_t legacy_work; /* operations submitted to the legacy stream so far */
    _Atomic unsigned blocking;    /* number of blocking streams */
};

struct stream {
    struct legacy_order *order; /* shared by all streams of a device */
    gs_stream handle;           /* the ring's stream; NULL: the legacy stream */
    struct ring *ring;
    gs_event end; /* event at the end of its work, as `end_state` says; see ring.h */
    enum ring_end_state end_state;
    unsigned device; /* its number */
    bool records;    /* the stream records a graph of the session */
    bool blocking;
    unsigned flags;
    int priority;
    uint64_t id;          /* STREAM_LEGACY_ID, or a larger number */
    _Atomic bool working; /* a blocking stream has work that the legacy stream has not waited for */
    cudaLaunchAttributeValue attributes[STREAM_ATTRIBUTES]; /* hints, indexed by stream_attribute */
    _Atomic uint64_t legacy_seen; /* the legacy_work for which this stream waits already */
    /* The fields below are used while the stream captures; only graph/capture.h writes them. */
    _Atomic(struct capture *) capture; /* NULL: it does not */
    struct stream *capture_next;
    cudaGraphNode_t *captured; /* the nodes on which the next one depends */
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

/* The stream that a handle means. 0 is the current device's legacy stream or, for callers compiled
 * for per-thread default streams, the thread's own. Makes the call work on the stream's device.
 * cudaErrorInvalidResourceHandle: the handle is invalid. Attaches. */
cudaError_t stream_find(cudaStream_t handle, bool per_thread, struct stream **stream);
/* The legacy stream of an attached device. */
struct stream *stream_legacy(unsigned number);
cudaError_t stream_new(unsigned flags, int priority, cudaStream_t *handle);
/* Ends the stream; submitted work continues. cudaErrorStreamCaptureUnsupported: the stream
 * captures. */
cudaError_t stream_end(cudaStream_t handle);
/* The session of the call's device is gone, and all its streams with it. */
void streams_forget(void);

/* GS_OK: all streams of the call's device are idle. */
gs_status streams_query(void);

/* Waits for all work that the stream's next operation would wait for. */
cudaError_t stream_wait_earlier(struct stream *stream);
/* Moves the following work of the stream to a device: *at, the stream to which work went so far,
 * becomes the stream itself, or the thread's own stream on that device. A stream cannot wait for
 * another device's work: if *at changes, the caller waits for the work submitted there. Makes the
 * call work on the device. */
cudaError_t stream_go_on(struct stream *stream, unsigned device, struct stream **at);

/* Waits for the stream's own work, or queries it. */
static inline gs_status stream_wait(struct stream *stream)
{
    return ring_wait(stream->ring, stream);
}

static inline gs_status stream_query(struct stream *stream)
{
    return ring_query(stream->ring, stream);
}

gs_status stream_join_slow(struct stream *stream);
/* The CUDA error for the status of an operation on the stream. */
cudaError_t stream_error(struct stream *stream, gs_status status);

/* Makes the stream wait where it must. */
static inline gs_status stream_order(struct stream *stream)
{
    if (stream_is_legacy(stream)) {
        /* Acquire: pairs with stream_new; a thread that knows the new stream was synchronised with
         * its maker. */
        if (atomic_load_explicit(&stream->order->blocking, memory_order_acquire) == 0)
            return GS_OK;
    } else if (!stream->blocking ||
               atomic_load_explicit(&stream->legacy_seen, memory_order_acquire) ==
                   atomic_load_explicit(&stream->order->legacy_work, memory_order_acquire)) {
        return GS_OK;
    }
    return stream_join_slow(stream);
}

/* Called before an operation on the stream. */
static inline gs_status stream_enter(struct stream *stream)
{
    gs_status status = stream_order(stream);

    if (status == GS_OK && ring_shared(stream->ring))
        ring_turn_slow(stream->ring, stream);
    return status;
}

/* Called after the operation. A later operation of the other side, even in another thread that was
 * told of this one, sees that there is work, and so comes after it. */
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
