// Events in streams: an event is recorded in one stream, and another waits until the first has
// reached it. Any thread.
#include "softcuda/sched/sched.h"
#include "softcuda/stream/order.h"
#include "softcuda/stream/stream.h"

CUresult event_record(CUevent event, CUstream stream)
{
    struct op *op = op_new(OP_EVENT);
    uint64_t position;
    CUresult result;

    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->event.event = event;
    sched_lock();
    event->references++;
    stream_reference(stream);
    sched_unlock();
    result = stream_submit(stream, op, &position);
    sched_lock();
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
    sched_unlock();
    return result;
}

CUresult event_query(CUevent event)
{
    uint64_t position;
    CUstream stream;
    bool done;

    if (!event_point(event, &stream, &position))
        return CUDA_SUCCESS;
    done = stream_reached(stream, position);
    event_point_release(stream);
    return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult event_wait_stream(CUevent event, CUstream stream)
{
    struct op *op;
    CUstream target;
    uint64_t position;

    if (!event_point(event, &target, &position))
        return CUDA_SUCCESS;
    if (target == stream || stream_reached(target, position)) {
        event_point_release(target);
        return CUDA_SUCCESS;
    }
    op = op_new(OP_WAIT);
    if (!op) {
        event_point_release(target);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    op->wait.stream = target; // its reference is taken over
    op->wait.position = position;
    return stream_submit(stream, op, NULL);
}

CUresult event_elapsed(float *ms, CUevent start, CUevent end)
{
    CUresult result = CUDA_SUCCESS;

    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    sched_lock();
    if (!start->stream || !end->stream)
        result = CUDA_ERROR_INVALID_HANDLE;
    else if (!stream_reached(start->stream, start->position) ||
             !stream_reached(end->stream, end->position))
        result = CUDA_ERROR_NOT_READY;
    else
        *ms = (float)((double)(int64_t)(end->recorded_at - start->recorded_at) / 1e6);
    sched_unlock();
    return result;
}
