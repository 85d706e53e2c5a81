// Threads of the application that wait for the device, or do its work where they stand.
//
// A waiting thread spins for a while, takes a turn at the engine's work where there is some, and
// then sleeps until an operation completes. State: the futex it sleeps on, lock-free.
#include <stdatomic.h>

#include "common/util.h"
#include "softcuda/engine.h"
#include "softcuda/engine_parts.h"
#include "softcuda/memory.h"

enum { SPIN_HOST_NS = 50000 };

// Callers asleep in engine_wait, and the word that they sleep on.
static _Atomic uint32_t waiters, done_generation;

void callers_wake(void)
{
    // A read-modify-write, against that of engine_wait: one of the two comes second, and sees
    // either the waiter or the completion before it.
    if (atomic_fetch_add(&waiters, 0)) {
        atomic_fetch_add(&done_generation, 1);
        wake_on(&done_generation, INT32_MAX);
    }
}

bool engine_reached(CUstream stream, uint64_t position)
{
    return atomic_load_explicit(&stream->completed, memory_order_acquire) >= position;
}

CUresult engine_wait(CUstream stream, uint64_t position)
{
    CUcontext root = stream->context->root;
    uint64_t deadline = 0;

    for (uint32_t i = 0; !engine_reached(stream, position); i++) {
        if (atomic_load_explicit(&root->error, memory_order_relaxed))
            break;
        if (engine_has_tasks())
            engine_lend_hand();
        cpu_relax();
        if (i % 64)
            continue;
        if (!deadline)
            deadline = clock_ns() + SPIN_HOST_NS;
        if (clock_ns() < deadline)
            continue;
        atomic_fetch_add(&waiters, 1); // seq_cst, against callers_wake
        for (;;) {
            uint32_t generation = atomic_load(&done_generation);

            if (engine_reached(stream, position) || atomic_load(&root->error))
                break;
            sleep_on(&done_generation, generation, 0);
        }
        atomic_fetch_sub(&waiters, 1);
    }
    return atomic_load_explicit(&root->error, memory_order_acquire);
}

CUresult engine_wait_stream(CUstream stream)
{
    CUresult result;

    engine_lock();
    stream_reference(stream);
    engine_unlock();
    result = engine_wait(stream, atomic_load_explicit(&stream->submitted, memory_order_relaxed));
    engine_lock();
    stream_release(stream);
    engine_unlock();
    return result;
}

// Waits for POSITION although the context may have failed: its streams drain then.
static void stream_drain(CUstream stream, uint64_t position)
{
    atomic_fetch_add(&waiters, 1);
    for (;;) {
        uint32_t generation = atomic_load(&done_generation);

        if (engine_reached(stream, position))
            break;
        sleep_on(&done_generation, generation, 0);
    }
    atomic_fetch_sub(&waiters, 1);
}

CUresult engine_wait_context(CUcontext context, bool sticky)
{
    CUcontext root = context->root;

    for (;;) {
        CUstream busy = NULL;
        uint64_t position;
        CUresult result;

        engine_lock();
        for (CUstream s = order_streams(); s && !busy; s = s->next) {
            bool mine = context == root ? s->context->root == root : s->context == context;

            if (mine && !stream_is_idle(s))
                busy = s;
        }
        if (busy)
            stream_reference(busy);
        engine_unlock();
        if (!busy)
            return atomic_load_explicit(&root->error, memory_order_acquire);
        position = atomic_load_explicit(&busy->submitted, memory_order_relaxed);
        result = CUDA_SUCCESS;
        if (sticky)
            result = engine_wait(busy, position);
        else
            stream_drain(busy, position);
        engine_lock();
        stream_release(busy);
        engine_unlock();
        if (result)
            return result;
    }
}

bool engine_move_now(CUcontext context, struct op *op, CUresult *result)
{
    struct mem_view view;
    struct view_slot *slot = NULL;
    bool busy = false, fault = false;

    engine_lock();
    busy = context->blocking_ops != 0;
    engine_unlock();
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
