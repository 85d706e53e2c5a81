/* ring.c - see ring.h. */
#include "cudart/state/ring.h"

#include "cudart/state/device.h"
#include "cudart/state/heaps.h"
#include "cudart/state/stream.h"

/* Guards the set of rings and their users. Taken before the lock of a ring. */
static pthread_mutex_t rings_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ring rings_of[DEVICES_MAX][RINGS_MAX];

static struct ring *rings_here(void)
{
    return rings_of[device_number()];
}

/* ---- End events: the ring's lock is held ----------------------------------------------------- */

/* If no event can be recorded, the end of the ring stands for the end of the stream's work. The
 * record also fails if the session has ended, which the next call reports. */
static void end_record(struct ring *ring, struct stream *stream)
{
    gs_status status = GS_OK;

    if (stream->end == NULL)
        status = gs_event_create(device_session(), &stream->end);
    if (status == GS_OK)
        status = gs_event_record(stream->end, ring->handle);
    stream->end_state = status == GS_OK ? RING_END_RECORDED : RING_END_LOST;
}

void ring_turn_slow(struct ring *ring, struct stream *stream)
{
    pthread_mutex_lock(&ring->lock);
    if (ring->last != stream && ring->last != NULL)
        end_record(ring, ring->last);
    ring->last = stream;
    pthread_mutex_unlock(&ring->lock);
}

/* Another stream may have recorded the end of this stream's work while the work was being
 * submitted. */
void ring_leave_slow(struct ring *ring, struct stream *stream)
{
    pthread_mutex_lock(&ring->lock);
    if (ring->last != stream)
        end_record(ring, stream);
    pthread_mutex_unlock(&ring->lock);
}

gs_status ring_end(struct ring *ring, struct stream *stream, gs_event *end)
{
    gs_status status = GS_OK;

    pthread_mutex_lock(&ring->lock);
    if (ring->last == stream || stream->end_state == RING_END_LOST)
        end_record(ring, stream);
    if (stream->end_state == RING_END_LOST)
        status = GS_ERR_LIMIT;
    else
        *end = stream->end_state == RING_END_RECORDED ? stream->end : NULL;
    pthread_mutex_unlock(&ring->lock);
    return status;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

gs_status ring_wait(struct ring *ring, struct stream *stream)
{
    gs_event event;

    if (!ring_shared(ring) || ring_end(ring, stream, &event) != GS_OK)
        return gs_stream_sync(device_session(), stream->handle);
    return event != NULL ? gs_event_sync(event) : GS_OK;
}

gs_status ring_query(struct ring *ring, struct stream *stream)
{
    gs_event event = NULL;
    bool whole;

    if (!ring_shared(ring))
        return gs_stream_query(device_session(), stream->handle);
    pthread_mutex_lock(&ring->lock);
    whole = ring->last == stream || stream->end_state == RING_END_LOST;
    if (stream->end_state == RING_END_RECORDED)
        event = stream->end;
    pthread_mutex_unlock(&ring->lock);
    if (whole)
        return gs_stream_query(device_session(), stream->handle);
    return event != NULL ? gs_event_query(event) : GS_OK;
}

gs_status rings_query(void)
{
    struct ring *const rings = rings_here();
    gs_status status = gs_stream_query(device_session(), NULL);

    pthread_mutex_lock(&rings_lock);
    for (unsigned i = 0; i < RINGS_MAX && status == GS_OK; i++) {
        if (rings[i].handle != NULL)
            status = gs_stream_query(device_session(), rings[i].handle);
    }
    pthread_mutex_unlock(&rings_lock);
    return status;
}

/* ---- Taking and giving: rings_lock is held --------------------------------------------------- */

static gs_status ring_open(struct ring *ring, int priority)
{
    gs_session session = device_session();
    gs_qos qos = GS_QOS_INIT;
    gs_status status = GS_OK;

    if (priority != 0) {
        status = gs_get_qos(session, &qos);
        /* A stream only has a class and a priority of its own. */
        qos = (gs_qos){.size = sizeof(qos), .cls = qos.cls, .priority = 1};
    }
    if (status == GS_OK)
        status = gs_stream_create(session, priority != 0 ? &qos : NULL, &ring->handle);
    if (status == GS_ERR_INVALID_VALUE &&
        priority != 0) /* the session is not allowed this priority */
        status = gs_stream_create(session, NULL, &ring->handle);
    if (status == GS_OK)
        pthread_mutex_init(&ring->lock, NULL);
    else
        ring->handle = NULL;
    return status;
}

static bool ring_idle(const struct ring *ring)
{
    return gs_stream_query(device_session(), ring->handle) == GS_OK;
}

/* A ring of that priority without streams and without unfinished work; NULL: there is none. */
static struct ring *ring_spare(int priority)
{
    struct ring *const rings = rings_here();

    for (unsigned i = 0; i < RINGS_MAX; i++) {
        if (rings[i].handle != NULL && rings[i].users == 0 && rings[i].priority == priority &&
            ring_idle(&rings[i]))
            return &rings[i];
    }
    return NULL;
}

/* A slot for a new ring: a free one, or that of a ring without streams and work, which is ended.
 * NULL: there is none. */
static struct ring *ring_slot(void)
{
    struct ring *const rings = rings_here();

    for (unsigned i = 0; i < RINGS_MAX; i++) {
        if (rings[i].handle == NULL)
            return &rings[i];
    }
    for (unsigned i = 0; i < RINGS_MAX; i++) {
        if (rings[i].users == 0 && ring_idle(&rings[i]) &&
            gs_stream_destroy(rings[i].handle) == GS_OK) {
            rings[i].handle = NULL;
            heaps_ring_ended(&rings[i]);
            return &rings[i];
        }
    }
    return NULL;
}

/* The ring to share: preferably of the same priority and kind, and with the fewest streams. */
static struct ring *ring_to_share(bool blocking, int priority)
{
    struct ring *const rings = rings_here();
    struct ring *best = NULL;
    unsigned best_cost = 0;

    for (unsigned i = 0; i < RINGS_MAX; i++) {
        unsigned cost = rings[i].users + (rings[i].priority != priority ? 1u << 24 : 0) +
                        (rings[i].blocking != blocking ? 1u << 23 : 0);

        if (rings[i].handle == NULL || (best != NULL && cost >= best_cost))
            continue;
        best = &rings[i];
        best_cost = cost;
    }
    return best;
}

static gs_status ring_find(bool blocking, int priority, struct ring **out)
{
    struct ring *ring = ring_spare(priority);
    gs_status status = GS_OK;

    if (ring == NULL) {
        ring = ring_slot();
        status = ring != NULL ? ring_open(ring, priority) : GS_ERR_LIMIT;
    }
    if (status == GS_OK && ring->users == 0) {
        ring->blocking = blocking;
        ring->priority = priority;
        ring->last = NULL;
        atomic_store(&ring->shared, false);
    }
    if (status == GS_ERR_LIMIT) {
        ring = ring_to_share(blocking, priority);
        if (ring != NULL) {
            atomic_store(&ring->shared, true);
            status = GS_OK;
        }
    }
    *out = ring;
    return status;
}

gs_status ring_take(struct stream *stream, bool blocking, int priority, struct ring **out)
{
    struct ring *ring;
    gs_status status;

    pthread_mutex_lock(&rings_lock);
    status = ring_find(blocking, priority, &ring);
    if (status == GS_OK) {
        ring->users++;
        if (!ring_shared(ring))
            ring->last = stream;
        *out = ring;
    }
    pthread_mutex_unlock(&rings_lock);
    return status;
}

void ring_give(struct ring *ring, struct stream *stream)
{
    pthread_mutex_lock(&rings_lock);
    pthread_mutex_lock(&ring->lock);
    if (ring->last == stream)
        ring->last = NULL;
    pthread_mutex_unlock(&ring->lock);
    ring->users--;
    pthread_mutex_unlock(&rings_lock);
    if (stream->end != NULL)
        gs_event_destroy(stream->end);
    stream->end = NULL;
}

void rings_forget(void)
{
    struct ring *const rings = rings_here();

    pthread_mutex_lock(&rings_lock);
    for (unsigned i = 0; i < RINGS_MAX; i++) {
        rings[i].handle = NULL;
        rings[i].users = 0;
    }
    pthread_mutex_unlock(&rings_lock);
}
