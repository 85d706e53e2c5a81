// Streams and events. State under the engine's lock; any thread.
#include "softcuda/stream.h"

#include <stdlib.h>

#include "softcuda/engine.h"

CUresult stream_new(CUcontext context, uint32_t flags, int priority, CUstream *out)
{
    CUstream s = calloc(1, sizeof(*s));

    if (!s)
        return CUDA_ERROR_OUT_OF_MEMORY;
    s->magic = MAGIC_STREAM;
    s->flags = flags;
    s->priority = priority_clamp(priority);
    s->context = context;
    s->references = 1;
    engine_lock();
    engine_stream_link(s);
    engine_unlock();
    *out = s;
    return CUDA_SUCCESS;
}

// What was submitted still runs; the stream goes with the last of it.
void stream_destroy(CUstream stream)
{
    engine_lock();
    stream->magic = MAGIC_DEAD;
    stream_release(stream);
    engine_unlock();
}

void stream_reference(CUstream stream)
{
    stream->references++;
}

void stream_release(CUstream stream)
{
    if (--stream->references)
        return;
    engine_stream_unlink(stream);
    free(stream);
}

bool stream_is_idle(CUstream stream)
{
    return atomic_load_explicit(&stream->completed, memory_order_acquire) ==
           atomic_load_explicit(&stream->submitted, memory_order_acquire);
}

CUresult stream_of(CUcontext context, CUstream handle, CUstream *stream)
{
    if (!handle || handle == CU_STREAM_LEGACY)
        *stream = context->legacy;
    else if (handle == CU_STREAM_PER_THREAD)
        *stream = context->per_thread;
    else if (handle->magic == MAGIC_STREAM && handle->context->root == context->root)
        *stream = handle;
    else
        return CUDA_ERROR_INVALID_HANDLE;
    return CUDA_SUCCESS;
}

// ---- Events

CUresult event_new(uint32_t flags, CUevent *out)
{
    CUevent e = calloc(1, sizeof(*e));

    if (!e)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *e = (struct CUevent_st){.magic = MAGIC_EVENT, .flags = flags, .references = 1};
    *out = e;
    return CUDA_SUCCESS;
}

void event_release(CUevent event)
{
    if (--event->references)
        return;
    if (event->stream)
        stream_release(event->stream);
    free(event);
}

void event_destroy(CUevent event)
{
    engine_lock();
    event->magic = MAGIC_DEAD;
    event_release(event);
    engine_unlock();
}

CUresult event_check(CUevent event)
{
    return event && event->magic == MAGIC_EVENT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult event_record(CUevent event, CUstream stream)
{
    struct op *op = op_new(OP_EVENT);
    uint64_t position;
    CUresult result;

    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->event.event = event;
    engine_lock();
    event->references++;
    stream_reference(stream);
    engine_unlock();
    result = engine_submit(stream, op, &position);
    engine_lock();
    if (!result) {
        CUstream before = event->stream;

        event->stream = stream;
        event->position = position;
        if (before)
            stream_release(before);
    } else {
        stream_release(stream);
        event_release(event);
    }
    engine_unlock();
    return result;
}

// Where the event stands now, with a reference to its stream; false when it was never recorded.
static bool event_point(CUevent event, CUstream *stream, uint64_t *position)
{
    bool recorded;

    engine_lock();
    recorded = event->stream != NULL;
    if (recorded) {
        *stream = event->stream;
        *position = event->position;
        stream_reference(*stream);
    }
    engine_unlock();
    return recorded;
}

static void point_release(CUstream stream)
{
    engine_lock();
    stream_release(stream);
    engine_unlock();
}

CUresult event_query(CUevent event)
{
    uint64_t position;
    CUstream stream;
    bool done;

    if (!event_point(event, &stream, &position))
        return CUDA_SUCCESS;
    done = engine_reached(stream, position);
    point_release(stream);
    return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult event_wait(CUevent event)
{
    uint64_t position;
    CUstream stream;
    CUresult result;

    if (!event_point(event, &stream, &position))
        return CUDA_SUCCESS;
    result = engine_wait(stream, position);
    point_release(stream);
    return result;
}

CUresult event_wait_stream(CUevent event, CUstream stream)
{
    struct op *op;
    CUstream target;
    uint64_t position;

    if (!event_point(event, &target, &position))
        return CUDA_SUCCESS;
    if (target == stream || engine_reached(target, position)) {
        point_release(target);
        return CUDA_SUCCESS;
    }
    op = op_new(OP_WAIT);
    if (!op) {
        point_release(target);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    op->wait.stream = target; // the reference goes with it
    op->wait.position = position;
    return engine_submit(stream, op, NULL);
}

CUresult event_elapsed(float *ms, CUevent start, CUevent end)
{
    CUresult result = CUDA_SUCCESS;

    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    engine_lock();
    if (!start->stream || !end->stream)
        result = CUDA_ERROR_INVALID_HANDLE;
    else if (!engine_reached(start->stream, start->position) ||
             !engine_reached(end->stream, end->position))
        result = CUDA_ERROR_NOT_READY;
    else
        *ms = (float)((double)(int64_t)(end->recorded_at - start->recorded_at) / 1e6);
    engine_unlock();
    return result;
}
