// Streams and events themselves: handles, references, the list of all streams. State under the
// scheduling lock; any thread.
#include "softcuda/stream/stream.h"

#include <stdlib.h>

#include "softcuda/sched/sched.h"

static CUstream streams;

CUstream stream_first(void)
{
    return streams;
}

static void stream_unlink(CUstream stream)
{
    CUstream *at = &streams;

    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
}

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
    sched_lock();
    s->next = streams;
    streams = s;
    sched_unlock();
    *out = s;
    return CUDA_SUCCESS;
}

// Operations that were submitted still run; the last one frees the stream.
void stream_free(CUstream stream)
{
    sched_lock();
    stream->magic = MAGIC_DEAD;
    stream_release(stream);
    sched_unlock();
}

void stream_reference(CUstream stream)
{
    stream->references++;
}

void stream_release(CUstream stream)
{
    if (--stream->references)
        return;
    stream_unlink(stream);
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

void event_free(CUevent event)
{
    sched_lock();
    event->magic = MAGIC_DEAD;
    event_release(event);
    sched_unlock();
}

CUresult event_check(CUevent event)
{
    return event && event->magic == MAGIC_EVENT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

bool event_point(CUevent event, CUstream *stream, uint64_t *position)
{
    bool recorded;

    sched_lock();
    recorded = event->stream != NULL;
    if (recorded) {
        *stream = event->stream;
        *position = event->position;
        stream_reference(*stream);
    }
    sched_unlock();
    return recorded;
}

void event_point_release(CUstream stream)
{
    sched_lock();
    stream_release(stream);
    sched_unlock();
}
