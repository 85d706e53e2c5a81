// Threads of the application that wait for the device, or do its work meanwhile.
//
// A waiting thread spins for a while, runs a turn of the engine's work if there is some, and then
// sleeps until an operation completes. No state of its own.
#include <stdatomic.h>

#include "common/util.h"
#include "softcuda/engine/engine.h"
#include "softcuda/engine/turn.h"
#include "softcuda/memory/memory.h"
#include "softcuda/sched/idle.h"
#include "softcuda/sched/queue.h"
#include "softcuda/sched/sched.h"

enum { SPIN_HOST_NS = 50000 };

CUresult engine_wait(CUstream stream, uint64_t position)
{
    CUcontext root = stream->context->root;
    uint64_t deadline = 0;

    for (uint32_t i = 0; !stream_reached(stream, position); i++) {
        if (atomic_load_explicit(&root->error, memory_order_relaxed))
            break;
        if (tasks_queued())
            engine_lend_hand();
        cpu_relax();
        if (i % 64)
            continue;
        if (!deadline)
            deadline = clock_ns() + SPIN_HOST_NS;
        if (clock_ns() < deadline)
            continue;
        caller_sleep_begin();
        for (;;) {
            uint32_t generation = caller_generation();

            if (stream_reached(stream, position) || atomic_load(&root->error))
                break;
            caller_sleep(generation);
        }
        caller_sleep_end();
    }
    return atomic_load_explicit(&root->error, memory_order_acquire);
}

CUresult engine_wait_event(CUevent event)
{
    uint64_t position;
    CUstream stream;
    CUresult result;

    if (!event_point(event, &stream, &position))
        return CUDA_SUCCESS;
    result = engine_wait(stream, position);
    event_point_release(stream);
    return result;
}

CUresult engine_wait_stream(CUstream stream)
{
    CUresult result;

    sched_lock();
    stream_reference(stream);
    sched_unlock();
    result = engine_wait(stream, atomic_load_explicit(&stream->submitted, memory_order_relaxed));
    sched_lock();
    stream_release(stream);
    sched_unlock();
    return result;
}

// Waits for POSITION even if the context has failed: its streams drain then.
static void stream_drain(CUstream stream, uint64_t position)
{
    caller_sleep_begin();
    for (;;) {
        uint32_t generation = caller_generation();

        if (stream_reached(stream, position))
            break;
        caller_sleep(generation);
    }
    caller_sleep_end();
}

CUresult engine_wait_context(CUcontext context, bool sticky)
{
    CUcontext root = context->root;

    for (;;) {
        CUstream busy = NULL;
        uint64_t position;
        CUresult result;

        sched_lock();
        for (CUstream s = stream_first(); s && !busy; s = s->next) {
            bool mine = context == root ? s->context->root == root : s->context == context;

            if (mine && !stream_is_idle(s))
                busy = s;
        }
        if (busy)
            stream_reference(busy);
        sched_unlock();
        if (!busy)
            return atomic_load_explicit(&root->error, memory_order_acquire);
        position = atomic_load_explicit(&busy->submitted, memory_order_relaxed);
        result = CUDA_SUCCESS;
        if (sticky)
            result = engine_wait(busy, position);
        else
            stream_drain(busy, position);
        sched_lock();
        stream_release(busy);
        sched_unlock();
        if (result)
            return result;
    }
}

bool engine_move_now(CUcontext context, struct op *op, CUresult *result)
{
    struct mem_view view;
    struct view_slot *slot = NULL;
    bool busy = false, fault = false;

    sched_lock();
    busy = context->blocking_ops != 0;
    sched_unlock();
    if (!busy)
        slot = view_slot_new();
    if (!slot)
        return false;
    do {
        mem_view_begin(&view, slot);
        busy = !op_move(op, &view, &fault);
        mem_view_end(slot);
    } while (busy && !fault);
    view_slot_free(slot);
    op_free(op);
    *result = fault ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    return true;
}
