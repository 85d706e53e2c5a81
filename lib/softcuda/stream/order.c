// The order of operations: what each stream contains, when an operation may start, and what follows
// from its completion. All state is guarded by the scheduling lock.
#include "softcuda/stream/order.h"

#include <stdlib.h>

#include "common/util.h"
#include "softcuda/memory/memory.h"
#include "softcuda/sched/idle.h"
#include "softcuda/sched/queue.h"
#include "softcuda/sched/sched.h"
#include "softcuda/stream/run.h"

static struct op_list ready; // to be started by order_pump
static struct op *polled;    // OP_MEM operations whose wait does not hold yet
static uint64_t polled_changed;
static struct mem_view pump_view; // for value writes and waits
static struct view_slot *pump_slot;

// Makes operations ready that waited for the position that STREAM has reached.
static void stream_release_waiters(CUstream stream)
{
    struct op **at = &stream->waiters;
    uint64_t completed = atomic_load_explicit(&stream->completed, memory_order_relaxed);

    while (*at) {
        struct op *op = *at;

        if (op->wait.position > completed) {
            at = &op->link;
            continue;
        }
        *at = op->link;
        op_list_push(&ready, op);
    }
}

static bool is_blocking(CUstream stream)
{
    return !(stream->flags & CU_STREAM_NON_BLOCKING);
}

static void stream_op_done(CUstream stream, struct op *op)
{
    stream->head = op->next;
    stream->context->blocking_ops -= is_blocking(stream);
    if (!stream->head)
        stream->tail = NULL;
    else
        op_list_push(&ready, stream->head);
    // Release: an observer of the number sees the effects of the operation. Pairs with the acquire
    // in stream_reached.
    atomic_store_explicit(&stream->completed,
                          atomic_load_explicit(&stream->completed, memory_order_relaxed) + 1,
                          memory_order_release);
    stream_release_waiters(stream);
    callers_wake();
}

void order_let_go(struct op *op)
{
    if (op->run)
        graph_run_node_lets_go(op->run, op->node, &ready);
}

void order_finish(struct op *op)
{
    CUstream stream = op->stream;
    struct op *whole;

    if (op->kind == OP_EVENT) {
        CUevent event = op->event.event;

        if (op->event.recording == event->recordings)
            event->recorded_at = clock_ns();
        event_release(event);
    } else if (op->kind == OP_WAIT) {
        stream_release(op->wait.stream);
    }
    if (op->run) {
        whole = graph_run_node_done(op->run, op->node, &ready);
        op_free(op);
        if (!whole)
            return;
        op = whole;
    }
    stream_op_done(stream, op);
    op_free(op);
    stream_release(stream);
}

CUcontext order_root(const struct op *op)
{
    return op->kind == OP_KERNEL ? op->grid->context->root : op->stream->context->root;
}

// Runs value writes and waits as far as possible. True: all are done, or one faulted.
static bool op_mem_try(struct op *op)
{
    bool fault = false, done;

    mem_view_begin(&pump_view, pump_slot);
    done = op_mem_advance(op, &pump_view, &fault);
    mem_view_end(pump_slot);
    if (fault)
        order_fail(order_root(op), CUDA_ERROR_ILLEGAL_ADDRESS);
    return done;
}

static void op_start(struct op *op)
{
    CUstream target;

    // After a sticky error nothing starts: streams drain, so that waiting threads and destructors
    // return.
    if (atomic_load_explicit(&order_root(op)->error, memory_order_relaxed) &&
        op->kind != OP_GRAPH) {
        order_finish(op);
        return;
    }
    switch (op->kind) {
    case OP_KERNEL:
        place_submit(op->grid);
        break;
    case OP_COPY:
    case OP_FILL:
        op->task.is_block = false;
        op->task.level = priority_level(op->stream->priority);
        task_push(&op->task);
        break;
    case OP_MEM:
        if (op_mem_try(op)) {
            order_finish(op);
        } else {
            op->link = polled;
            polled = op;
            polled_changed++;
        }
        break;
    case OP_HOST:
        callback_push(&op->task);
        break;
    case OP_WAIT:
        target = op->wait.stream;
        if (stream_reached(target, op->wait.position)) {
            order_finish(op);
        } else {
            op->link = target->waiters;
            target->waiters = op;
        }
        break;
    case OP_GRAPH:
        if (!graph_run_start(op, &ready))
            order_finish(op);
        break;
    case OP_EMPTY:
    case OP_EVENT:
        order_finish(op);
        break;
    }
}

bool order_polls(uint64_t *changed)
{
    *changed = polled_changed;
    return polled != NULL;
}

// Checks the words for which streams wait. Finished operations leave the list first, since
// finishing one may start others that join it.
void order_poll(void)
{
    struct op *list = polled;

    polled = NULL;
    while (list) {
        struct op *op = list;

        list = op->link;
        if (atomic_load_explicit(&order_root(op)->error, memory_order_relaxed) || op_mem_try(op)) {
            order_finish(op);
            polled_changed++;
        } else {
            op->link = polled;
            polled = op;
        }
    }
}

// Completes the grids that ended while blocks were placed, and fails the context of a starved one.
static void settle(const struct placed *placed)
{
    if (placed->starved)
        order_fail(placed->starved, CUDA_ERROR_LAUNCH_FAILED);
    for (struct grid *g = placed->done, *next; g; g = next) {
        next = g->next;
        order_finish(g->op);
    }
}

void order_block_done(struct resident *resident)
{
    struct placed placed = {0};

    place_block_done(resident, &placed);
    settle(&placed);
}

void order_pump(void)
{
    do {
        struct placed placed = {0};
        struct op *op;

        while ((op = op_list_pop(&ready)))
            op_start(op);
        place_all(&placed);
        settle(&placed);
    } while (ready.head);
    workers_wake(polled != NULL);
}

void order_fail(CUcontext root, CUresult error)
{
    int none = CUDA_SUCCESS;

    // Release: pairs with the acquire in context_current.
    if (!atomic_compare_exchange_strong_explicit(&root->error, &none, error, memory_order_release,
                                                 memory_order_relaxed))
        return;
    place_stop(root);
    callers_wake();
}

// ---- Submitting

static uint64_t stream_append(CUstream stream, struct op *op)
{
    uint64_t position = atomic_load_explicit(&stream->submitted, memory_order_relaxed) + 1;

    op->stream = stream;
    op->next = NULL;
    if (op->kind == OP_EVENT)
        op->event.recording = ++op->event.event->recordings;
    stream_reference(stream);
    if (stream->head) {
        stream->tail->next = op;
    } else {
        stream->head = op;
        op_list_push(&ready, op);
    }
    stream->tail = op;
    stream->context->blocking_ops += is_blocking(stream);
    atomic_store_explicit(&stream->submitted, position, memory_order_release);
    return position;
}

static bool append_wait(CUstream stream, CUstream target)
{
    struct op *op = op_new(OP_WAIT);

    if (!op)
        return false;
    op->wait.stream = target;
    op->wait.position = atomic_load_explicit(&target->submitted, memory_order_relaxed);
    stream_reference(target);
    stream_append(stream, op);
    return true;
}

// The default stream waits for the blocking streams of its context, and they wait for it.
static bool append_default_waits(CUstream stream)
{
    CUstream legacy = stream->context->legacy;

    if (stream == legacy) {
        for (CUstream s = stream_first(); s && stream->context->blocking_ops; s = s->next) {
            if (s != stream && s->context == stream->context && is_blocking(s) &&
                !stream_is_idle(s) && !append_wait(stream, s))
                return false;
        }
        return true;
    }
    if (is_blocking(stream) && !stream_is_idle(legacy)) {
        uint64_t position = atomic_load_explicit(&legacy->submitted, memory_order_relaxed);

        if (stream->legacy_seen == position)
            return true;
        stream->legacy_seen = position;
        return append_wait(stream, legacy);
    }
    return true;
}

CUresult stream_submit(CUstream stream, struct op *op, uint64_t *position)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t at;

    sched_lock();
    if (stream->capture.graph) {
        op_free(op);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else if (append_default_waits(stream)) {
        at = stream_append(stream, op);
        if (position)
            *position = at;
    } else {
        op_free(op);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    order_pump();
    sched_unlock();
    return result;
}

bool order_init(void)
{
    pump_slot = view_slot_new();
    return pump_slot != NULL;
}
