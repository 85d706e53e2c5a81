/* stream.c - see stream.h. */
#include "cudart/state/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/base/handles.h"
#include "cudart/base/report.h"

#define STREAMS_MAX 65536u

/* The streams of one device. */
struct device_streams {
    struct legacy_order order;
    struct ring ring;
    struct stream legacy;
    gs_event event;
    uint64_t recorded; /* the order.legacy_work that the event marks */
};
#define DEVICE_STREAMS(number)                                                                     \
    {                                                                                              \
        .ring = {.lock = PTHREAD_MUTEX_INITIALIZER}, .legacy = {                                   \
            .order = &of_devices[number].order,                                                    \
            .id = STREAM_LEGACY_ID,                                                                \
            .ring = &of_devices[number].ring,                                                      \
            .device = (number)                                                                     \
        }                                                                                          \
    }
static struct device_streams of_devices[DEVICES_MAX] = {
    DEVICE_STREAMS(0), DEVICE_STREAMS(1), DEVICE_STREAMS(2), DEVICE_STREAMS(3),
    DEVICE_STREAMS(4), DEVICE_STREAMS(5), DEVICE_STREAMS(6), DEVICE_STREAMS(7)};

static struct handle_slot slots[STREAMS_MAX];
static struct stream streams[STREAMS_MAX];
static struct handles handles = HANDLES_INIT(slots, STREAMS_MAX, 8);

/* Guards the list of streams, and the joins with the legacy stream. */
static pthread_mutex_t join_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t ids = STREAM_LEGACY_ID + 1;

/* ---- The legacy stream's order --------------------------------------------------------------- */

/* Makes the legacy stream wait for the work submitted to the stream. join_lock is held. */
static gs_status join_blocking_stream(struct stream *stream)
{
    gs_event end = NULL;
    gs_status status;

    /* An idle stream needs no wait, and a wait would be work of the legacy stream: cudaStreamQuery
     * would not see it idle. */
    if (!atomic_exchange_explicit(&stream->working, false, memory_order_acq_rel) ||
        stream_query(stream) == GS_OK)
        return GS_OK;
    status = ring_end(stream->ring, stream, &end);
    return status == GS_OK && end != NULL ? gs_stream_wait_event(NULL, end) : status;
}

/* Does that for all blocking streams. */
static gs_status join_blocking_streams(void)
{
    gs_status status = GS_OK;

    for (uint32_t i = 0; i < handles.fresh && status == GS_OK; i++) {
        struct stream *stream = &streams[i];

        if (handles_of(&handles, (int)i) == 0 || !stream->blocking ||
            stream->device != device_number())
            continue;
        /* CUDA refuses work in the legacy stream while a capturing stream would have to come before
         * it. */
        if (stream_capturing(stream))
            return GS_ERR_RECORDING;
        status = join_blocking_stream(stream);
    }
    return status;
}

/* Makes a blocking stream wait for the legacy stream's work so far. join_lock is held. */
static gs_status join_legacy(gs_session session, struct stream *stream)
{
    struct device_streams *here = &of_devices[stream->device];
    uint64_t work = atomic_load_explicit(&here->order.legacy_work, memory_order_acquire);
    gs_status status = GS_OK;

    /* As above: after a synchronous copy there is nothing to wait for. */
    if (gs_stream_query(session, NULL) == GS_OK) {
        atomic_store_explicit(&stream->legacy_seen, work, memory_order_release);
        return GS_OK;
    }
    if (here->event == NULL)
        status = gs_event_create(session, &here->event);
    if (status == GS_OK && here->recorded != work) {
        status = gs_event_record(here->event, NULL);
        if (status == GS_OK)
            here->recorded = work;
    }
    if (status == GS_OK && ring_shared(stream->ring))
        ring_turn_slow(stream->ring, stream);
    if (status == GS_OK)
        status = gs_stream_wait_event(stream->handle, here->event);
    if (status == GS_OK)
        atomic_store_explicit(&stream->legacy_seen, work, memory_order_release);
    return status;
}

gs_status stream_join_slow(struct stream *stream)
{
    gs_session session = device_session();
    gs_status status;

    pthread_mutex_lock(&join_lock);
    if (stream_is_legacy(stream))
        status = join_blocking_streams();
    else
        status = join_legacy(session, stream);
    pthread_mutex_unlock(&join_lock);
    return status;
}

cudaError_t stream_error(struct stream *stream, gs_status status)
{
    if (status == GS_ERR_RECORDING && stream_is_legacy(stream))
        return cudaErrorStreamCaptureImplicit;
    return device_error(status);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static gs_status stream_open(struct stream *stream, unsigned flags, int priority)
{
    const bool blocking = !(flags & cudaStreamNonBlocking);
    gs_status status = ring_take(stream, blocking, priority < 0, &stream->ring);

    if (status != GS_OK)
        return status;
    stream->device = device_number();
    stream->order = &of_devices[stream->device].order;
    stream->handle = stream->ring->handle;
    stream->end_state = RING_END_NONE;
    stream->blocking = blocking;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = atomic_fetch_add(&ids, 1);
    memset(stream->attributes, 0, sizeof(stream->attributes));
    atomic_store(&stream->working, false);
    atomic_store(&stream->capture, NULL);
    atomic_store(&stream->legacy_seen, 0);
    return GS_OK;
}

cudaError_t stream_new(unsigned flags, int priority, cudaStream_t *handle)
{
    uint64_t value;
    gs_status status;
    int number = handles_take(&handles, &value);

    if (number < 0)
        return cudaErrorMemoryAllocation;
    status = stream_open(&streams[number], flags, priority);
    if (status != GS_OK) {
        handles_free(&handles, number);
        if (status == GS_ERR_LIMIT) /* cudaErrorMemoryAllocation does not say which limit */
            report_once("no more streams: %s", gs_last_error_message());
        return device_error(status);
    }
    pthread_mutex_lock(&join_lock);
    handles_open(&handles, number);
    if (streams[number].blocking)
        atomic_fetch_add_explicit(&streams[number].order->blocking, 1, memory_order_release);
    pthread_mutex_unlock(&join_lock);
    *handle = (cudaStream_t)(uintptr_t)value; // NOLINT: a handle is a value
    return cudaSuccess;
}

/* Removes the stream from its handle. Later work of the legacy stream still comes after the
 * stream's work. join_lock is held. */
static cudaError_t stream_close(uint64_t handle, struct stream **out)
{
    int number = handles_find(&handles, handle);
    struct stream *stream;

    if (number < 0)
        return cudaErrorInvalidResourceHandle;
    stream = &streams[number];
    if (stream_capturing(stream))
        return cudaErrorStreamCaptureUnsupported;
    device_enter(stream->device);
    if (stream->blocking)
        join_blocking_stream(stream); /* a failure here is reported by the next call */
    if (handles_close(&handles, handle) < 0)
        return cudaErrorInvalidResourceHandle;
    if (stream->blocking)
        atomic_fetch_sub(&stream->order->blocking, 1);
    *out = stream;
    return cudaSuccess;
}

cudaError_t stream_end(cudaStream_t handle)
{
    struct stream *stream;
    gs_status status;
    cudaError_t error;

    pthread_mutex_lock(&join_lock);
    error = stream_close((uint64_t)(uintptr_t)handle, &stream);
    pthread_mutex_unlock(&join_lock);
    if (error != cudaSuccess)
        return error;
    status = gs_stream_query(device_session(), stream->handle);
    ring_give(stream->ring, stream);
    handles_free(&handles, (int)(stream - streams));
    return status == GS_NOT_READY ? cudaSuccess : device_error(status);
}

gs_status streams_query(void)
{
    return rings_query();
}

void streams_forget(void)
{
    struct device_streams *here = &of_devices[device_number()];

    pthread_mutex_lock(&join_lock);
    for (uint32_t i = 0; i < handles.fresh; i++) {
        uint64_t handle = handles_of(&handles, (int)i);

        if (handle == 0 || streams[i].device != device_number())
            continue;
        handles_close(&handles, handle);
        streams[i].end = NULL;
        handles_free(&handles, (int)i);
    }
    atomic_store(&here->order.blocking, 0);
    here->event = NULL;
    here->recorded = 0;
    atomic_store(&here->order.legacy_work, 0);
    rings_forget();
    pthread_mutex_unlock(&join_lock);
}

/* ---- The thread's own default stream --------------------------------------------------------- */

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static bool thread_key_made;

/* By device number; NULL: not made yet. */
struct thread_streams {
    cudaStream_t of[DEVICES_MAX];
    cudaStream_t beside[DEVICES_MAX]; /* see stream_go_on */
};

static void thread_streams_end(void *streams_of_thread)
{
    struct thread_streams *mine = streams_of_thread;

    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        if (mine->of[i] != NULL)
            stream_end(mine->of[i]);
        if (mine->beside[i] != NULL)
            stream_end(mine->beside[i]);
    }
    free(mine);
}

static void thread_key_make(void)
{
    thread_key_made = pthread_key_create(&thread_key, thread_streams_end) == 0;
}

/* NULL: no memory. */
static struct thread_streams *thread_streams(void)
{
    struct thread_streams *mine;

    pthread_once(&thread_once, thread_key_make);
    if (!thread_key_made)
        return NULL;
    mine = pthread_getspecific(thread_key);
    if (mine != NULL)
        return mine;
    mine = calloc(1, sizeof(*mine));
    if (mine != NULL && pthread_setspecific(thread_key, mine) != 0) {
        free(mine);
        mine = NULL;
    }
    return mine;
}

/* The thread's own default stream, or the one beside it, on the call's device. Made at the first
 * use and destroyed with the thread. */
static cudaError_t thread_stream(bool beside, cudaStream_t *handle)
{
    struct thread_streams *mine = thread_streams();
    cudaStream_t *slot;
    cudaError_t error = cudaSuccess;

    if (mine == NULL)
        return cudaErrorMemoryAllocation;
    slot = beside ? &mine->beside[device_number()] : &mine->of[device_number()];
    if (handles_find(&handles, (uint64_t)(uintptr_t)*slot) < 0)
        error = stream_new(beside ? cudaStreamNonBlocking : 0, 0, slot);
    *handle = *slot;
    return error;
}

struct stream *stream_legacy(unsigned number)
{
    return &of_devices[number].legacy;
}

cudaError_t stream_find(cudaStream_t handle, bool per_thread, struct stream **stream)
{
    cudaError_t error = device_use();
    int number;

    if (error != cudaSuccess)
        return error;
    if ((handle == NULL && !per_thread) || handle == cudaStreamLegacy) {
        *stream = &of_devices[device_number()].legacy;
        return cudaSuccess;
    }
    if (handle == NULL || handle == cudaStreamPerThread) {
        error = thread_stream(false, &handle);
        if (error != cudaSuccess)
            return error;
    }
    number = handles_find(&handles, (uint64_t)(uintptr_t)handle);
    if (number < 0)
        return cudaErrorInvalidResourceHandle;
    *stream = &streams[number];
    device_enter(streams[number].device);
    return cudaSuccess;
}

/* ---- Another device's work ------------------------------------------------------------------- */

cudaError_t stream_wait_earlier(struct stream *stream)
{
    gs_status status = stream->records ? GS_ERR_NOT_SUPPORTED : stream_enter(stream);

    if (status == GS_OK)
        status = stream_wait(stream);
    return stream_error(stream, status);
}

cudaError_t stream_go_on(struct stream *stream, unsigned device, struct stream **at)
{
    cudaError_t error = cudaSuccess;
    cudaStream_t handle;

    if ((*at)->device != device) {
        device_enter((*at)->device);
        error = stream_wait_earlier(*at);
    }
    device_enter(device);
    if ((*at)->device == device || error != cudaSuccess)
        return error;
    if (stream->device == device) {
        *at = stream;
        return cudaSuccess;
    }
    error = thread_stream(true, &handle);
    if (error == cudaSuccess)
        *at = &streams[handles_slot((uint64_t)(uintptr_t)handle)];
    return error;
}
