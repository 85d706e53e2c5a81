// The engine's threads, their run queue, and the start and completion of operations.
//
// One lock guards it all; turns run without it. A turn is one resident block for TURN_BUDGET warp
// instructions, or a few megabytes of a copy; then the next task in the queue has its turn, so that
// no kernel, however long, keeps another from advancing. Threads without work spin briefly, then
// sleep.
#include "softcuda/engine.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util.h"
#include "softcuda/graph.h"
#include "softcuda/grid.h"
#include "softcuda/memory.h"

enum {
    LEVELS = DEVICE_LEAST_PRIORITY - DEVICE_GREATEST_PRIORITY + 1,
    TURN_BUDGET = 2048,     // warp instructions: about 0.4 ms
    FAIRNESS = 8,           // every 8th turn goes to the lowest level that has a task
    SPIN_ENGINE_NS = 30000, // an idle thread's patience, and a waiting caller's
    SPIN_HOST_NS = 50000,
    POLL_MIN_NS =
        50000, // between two looks at words that streams wait for, when nothing else happens;
    POLL_MAX_NS = 500000, // longer the longer they do not change
    PAUSE_NS = 20000,     // when all tasks only wait for time to pass
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// ---- State under the lock

struct task_list {
    struct task *head, *tail;
};

static struct task_list tasks[LEVELS];
static uint64_t turns;
static struct op *ready_head, *ready_tail; // to be started by engine_pump
static struct op *polled;                  // OP_MEM with a wait that did not hold yet
static bool poller_present;
static uint64_t poll_ns = POLL_MIN_NS;
static CUstream all_streams;
static bool started;
static struct mem_view pump_view;
static struct view_slot *pump_slot;

// ---- Without it

// Tasks in the queue; written under the lock, read by spinning threads.
static _Atomic uint32_t queued;
static _Atomic uint32_t spinners;
// Engine threads asleep, and the word that they sleep on.
static _Atomic uint32_t sleepers, work_generation;
// Callers asleep in engine_wait, and theirs.
static _Atomic uint32_t waiters, done_generation;

// ---- Callbacks

static pthread_cond_t callback_added = PTHREAD_COND_INITIALIZER;
static struct op *callback_head, *callback_tail;
static bool callbacks_started;

void engine_lock(void)
{
    pthread_mutex_lock(&lock);
}

void engine_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

// Private futexes: nothing here is shared between processes.
static void sleep_on(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec t = {timeout_ns / 1000000000, timeout_ns % 1000000000};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns ? &t : NULL, NULL, 0);
}

static void wake_on(_Atomic uint32_t *word, uint32_t count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

// ---- The run queue

void engine_task_push(struct task *task)
{
    struct task_list *list = &tasks[task->level];

    task->next = NULL;
    if (list->head)
        list->tail->next = task;
    else
        list->head = task;
    list->tail = task;
    atomic_fetch_add(&queued, 1); // seq_cst, against the sleepers' check in idle_sleep
}

// The highest level first, but no level starves.
static struct task *task_pop(void)
{
    bool lowest = ++turns % FAIRNESS == 0;

    for (int i = 0; i < LEVELS; i++) {
        struct task_list *list = &tasks[lowest ? i : LEVELS - 1 - i];
        struct task *task = list->head;

        if (task) {
            list->head = task->next;
            atomic_fetch_sub_explicit(&queued, 1, memory_order_relaxed);
            return task;
        }
    }
    return NULL;
}

static void threads_wake(void)
{
    uint32_t spinning = atomic_load(&spinners);
    uint32_t work = atomic_load(&queued) + (polled && !poller_present);

    if (work > spinning && atomic_load(&sleepers)) {
        atomic_fetch_add(&work_generation, 1);
        wake_on(&work_generation, work - spinning);
    }
}

// ---- Operations

void engine_op_ready(struct op *op)
{
    op->link = NULL;
    if (ready_head)
        ready_tail->link = op;
    else
        ready_head = op;
    ready_tail = op;
}

static void callers_wake(void)
{
    // Against engine_wait: the store of `completed` before, the load of `waiters` after.
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&waiters, memory_order_relaxed)) {
        atomic_fetch_add(&done_generation, 1);
        wake_on(&done_generation, INT32_MAX);
    }
}

// Starts what waited for STREAM to come as far as it now is.
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
        engine_op_ready(op);
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
        engine_op_ready(stream->head);
    // Release: everything the operation did; pairs with the acquire in engine_reached.
    atomic_store_explicit(&stream->completed,
                          atomic_load_explicit(&stream->completed, memory_order_relaxed) + 1,
                          memory_order_release);
    stream_release_waiters(stream);
    callers_wake();
}

void engine_op_finish(struct op *op)
{
    CUstream stream = op->stream;
    struct op *whole;

    if (op->kind == OP_EVENT) {
        CUevent event = op->event.event;

        event->recorded_at = clock_ns();
        event_release(event);
    } else if (op->kind == OP_WAIT) {
        stream_release(op->wait.stream);
    }
    if (op->run) {
        whole = graph_run_node_done(op->run, op->node);
        op_free(op);
        if (!whole)
            return;
        op = whole;
    }
    stream_op_done(stream, op);
    op_free(op);
    stream_release(stream);
}

static CUcontext op_root(const struct op *op)
{
    return op->kind == OP_KERNEL ? op->grid->context->root : op->stream->context->root;
}

// Runs value writes and waits as far as they go. True: finished, one way or the other.
static bool op_mem_try(struct op *op)
{
    bool fault = false, done;

    mem_view_begin(&pump_view, pump_slot);
    done = op_mem_advance(op, &pump_view, &fault);
    mem_view_end(pump_slot);
    if (fault)
        engine_fail(op_root(op), CUDA_ERROR_ILLEGAL_ADDRESS);
    return done;
}

static void callback_push(struct op *op)
{
    op->link = NULL;
    if (callback_head)
        callback_tail->link = op;
    else
        callback_head = op;
    callback_tail = op;
    pthread_cond_signal(&callback_added);
}

static void op_start(struct op *op)
{
    CUstream target;

    // After a sticky error nothing starts: streams drain, so that waiters and destructors get
    // through.
    if (atomic_load_explicit(&op_root(op)->error, memory_order_relaxed) && op->kind != OP_GRAPH) {
        engine_op_finish(op);
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
        engine_task_push(&op->task);
        break;
    case OP_MEM:
        if (op_mem_try(op)) {
            engine_op_finish(op);
        } else {
            op->link = polled;
            polled = op;
            poll_ns = POLL_MIN_NS;
        }
        break;
    case OP_HOST:
        callback_push(op);
        break;
    case OP_WAIT:
        target = op->wait.stream;
        if (engine_reached(target, op->wait.position)) {
            engine_op_finish(op);
        } else {
            op->link = target->waiters;
            target->waiters = op;
        }
        break;
    case OP_GRAPH:
        graph_run_start(op);
        break;
    case OP_EMPTY:
    case OP_EVENT:
        engine_op_finish(op);
        break;
    }
}

// Looks at the words that streams wait for. Finished ones leave the list first, as finishing may
// start others that join it.
static void polled_look(void)
{
    struct op *list = polled;

    polled = NULL;
    while (list) {
        struct op *op = list;

        list = op->link;
        if (atomic_load_explicit(&op_root(op)->error, memory_order_relaxed) || op_mem_try(op)) {
            engine_op_finish(op);
            poll_ns = POLL_MIN_NS;
        } else {
            op->link = polled;
            polled = op;
        }
    }
}

void engine_pump(void)
{
    do {
        while (ready_head) {
            struct op *op = ready_head;

            ready_head = op->link;
            op_start(op);
        }
        place_all();
    } while (ready_head);
    threads_wake();
}

void engine_fail(CUcontext root, CUresult error)
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

void engine_stream_link(CUstream stream)
{
    stream->next = all_streams;
    all_streams = stream;
}

void engine_stream_unlink(CUstream stream)
{
    CUstream *at = &all_streams;

    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
}

static uint64_t stream_append(CUstream stream, struct op *op)
{
    uint64_t position = atomic_load_explicit(&stream->submitted, memory_order_relaxed) + 1;

    op->stream = stream;
    op->next = NULL;
    if (op->kind == OP_EVENT)
        op->event.position = position;
    stream_reference(stream);
    if (stream->head) {
        stream->tail->next = op;
    } else {
        stream->head = op;
        engine_op_ready(op);
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

// The default stream waits for the blocking streams of its context, and they for it.
static bool append_default_waits(CUstream stream)
{
    CUstream legacy = stream->context->legacy;

    if (stream == legacy) {
        for (CUstream s = all_streams; s && stream->context->blocking_ops; s = s->next) {
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

CUresult engine_submit(CUstream stream, struct op *op, uint64_t *position)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t at;

    engine_lock();
    if (append_default_waits(stream)) {
        at = stream_append(stream, op);
        if (position)
            *position = at;
    } else {
        op_free(op);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    engine_pump();
    engine_unlock();
    return result;
}

// ---- Waiting

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
        for (CUstream s = all_streams; s && !busy; s = s->next) {
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

// ---- Turns

static CUresult fault_result(enum exec_fault_kind kind)
{
    static const CUresult results[] = {
        [EXEC_FAULT_NONE] = CUDA_ERROR_UNKNOWN,
        [EXEC_FAULT_ILLEGAL_ADDRESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
        [EXEC_FAULT_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
        [EXEC_FAULT_ILLEGAL_INSTRUCTION] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
        [EXEC_FAULT_ADDRESS_SPACE] = CUDA_ERROR_INVALID_ADDRESS_SPACE,
        [EXEC_FAULT_INVALID_PC] = CUDA_ERROR_INVALID_PC,
        [EXEC_FAULT_TRAP] = CUDA_ERROR_LAUNCH_FAILED,
        [EXEC_FAULT_ASSERT] = CUDA_ERROR_ASSERT,
        [EXEC_FAULT_STACK] = CUDA_ERROR_HARDWARE_STACK_ERROR,
        [EXEC_FAULT_DEADLOCK] = CUDA_ERROR_LAUNCH_TIMEOUT,
        [EXEC_FAULT_NO_MEMORY] = CUDA_ERROR_OUT_OF_MEMORY,
    };

    return kind < ARRAY_SIZE(results) ? results[kind] : CUDA_ERROR_UNKNOWN;
}

// What compute-sanitizer would tell about a fault; CUDA itself only gives a number.
static void fault_print(const struct grid *g, const struct exec_fault *f)
{
    static const char *const kinds[] = {
        [EXEC_FAULT_NONE] = "unknown fault",
        [EXEC_FAULT_ILLEGAL_ADDRESS] = "illegal address",
        [EXEC_FAULT_MISALIGNED] = "misaligned address",
        [EXEC_FAULT_ILLEGAL_INSTRUCTION] = "illegal instruction",
        [EXEC_FAULT_ADDRESS_SPACE] = "operation not available in this state space",
        [EXEC_FAULT_INVALID_PC] = "call or branch to an invalid address",
        [EXEC_FAULT_TRAP] = "trap",
        [EXEC_FAULT_ASSERT] = "assertion failed",
        [EXEC_FAULT_STACK] = "stack overflow",
        [EXEC_FAULT_DEADLOCK] = "no thread of the block can continue",
        [EXEC_FAULT_NO_MEMORY] = "no host memory for a block's state",
    };

    fprintf(stderr,
            "softcuda: kernel %s: %s, address 0x%llx, line %u of %s, block (%u,%u,%u), thread "
            "(%u,%u,%u)\n",
            g->exec.kernel->func->name, f->kind < ARRAY_SIZE(kinds) ? kinds[f->kind] : kinds[0],
            (unsigned long long)f->address, f->line, f->function ? f->function : "?", f->block[0],
            f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2]);
}

static enum exec_status block_turn(struct resident *r, struct mem_view *view,
                                   struct view_slot *slot, struct exec_fault *fault)
{
    enum exec_status status;

    if (atomic_load_explicit(&r->grid->exec.stop, memory_order_relaxed))
        return EXEC_DONE;
    if (!r->block && exec_block_new(&r->grid->exec, &r->block)) {
        fault->kind = EXEC_FAULT_NO_MEMORY;
        return EXEC_FAULT;
    }
    if (!r->started) {
        exec_block_start(r->block, r->index, r->sm);
        r->started = true;
    }
    mem_view_begin(view, slot);
    status = exec_block_run(r->block, view, TURN_BUDGET, fault);
    mem_view_end(slot);
    return status;
}

static bool grid_timed_out(const struct grid *g)
{
    uint64_t limit = device_config()->timeout_ns;

    return limit && clock_ns() - g->started_ns > limit;
}

// With the lock, after the turn.
static void block_settle(struct resident *r, enum exec_status status,
                         const struct exec_fault *fault)
{
    struct grid *g = r->grid;

    if (status == EXEC_FAULT) {
        if (!atomic_load_explicit(&g->context->root->error, memory_order_relaxed))
            fault_print(g, fault);
        engine_fail(g->context->root, fault_result(fault->kind));
    } else if (status != EXEC_DONE && grid_timed_out(g)) {
        engine_fail(g->context->root, CUDA_ERROR_LAUNCH_TIMEOUT);
    }
    if (status == EXEC_DONE || status == EXEC_FAULT)
        place_block_done(r);
    else
        engine_task_push(&r->task);
}

static struct op *task_op(struct task *task)
{
    return (struct op *)((char *)task - offsetof(struct op, task));
}

// Runs one task's turn; called with the lock held, which it gives up meanwhile. True when the task
// only waits for time to pass.
static bool turn_run(struct task *task, struct view_slot *slot)
{
    struct mem_view view;
    struct exec_fault fault = {0};
    enum exec_status status = EXEC_DONE;

    engine_unlock();
    if (task->is_block) {
        struct resident *r = (struct resident *)task;

        status = block_turn(r, &view, slot, &fault);
        engine_lock();
        block_settle(r, status, &fault);
    } else {
        struct op *op = task_op(task);
        bool broken = false, done;

        mem_view_begin(&view, slot);
        done = op_move(op, &view, &broken);
        mem_view_end(slot);
        engine_lock();
        if (broken)
            engine_fail(op_root(op), CUDA_ERROR_ILLEGAL_ADDRESS);
        if (done)
            engine_op_finish(op);
        else
            engine_task_push(task);
    }
    engine_pump();
    return status == EXEC_WAITING;
}

// ---- Threads

// One thread at a time spins; the others go to sleep at once.
static bool idle_spin(void)
{
    uint32_t nobody = 0;
    uint64_t deadline;
    bool found = false;

    if (!atomic_compare_exchange_strong(&spinners, &nobody, 1))
        return false;
    deadline = clock_ns() + SPIN_ENGINE_NS;
    for (uint32_t i = 1; !found; i++) {
        found = atomic_load_explicit(&queued, memory_order_relaxed) != 0;
        cpu_relax();
        if (i % 64 == 0 && clock_ns() > deadline)
            break;
    }
    atomic_store(&spinners, 0);
    return found;
}

static void idle_sleep(uint64_t timeout_ns)
{
    uint32_t generation = atomic_load(&work_generation);

    atomic_fetch_add(&sleepers, 1); // seq_cst, against threads_wake
    if (!atomic_load(&queued))
        sleep_on(&work_generation, generation, timeout_ns);
    atomic_fetch_sub(&sleepers, 1);
}

// Called with the lock and without a task. WORKED: this thread had one just now; more may follow.
static void engine_idle(bool worked)
{
    bool poll = polled && !poller_present;
    uint64_t timeout = 0;

    if (poll) {
        polled_look();
        engine_pump();
        if (atomic_load_explicit(&queued, memory_order_relaxed))
            return;
        poll = polled;
    }
    if (poll) {
        poller_present = true;
        timeout = poll_ns;
        poll_ns = poll_ns * 2 > POLL_MAX_NS ? POLL_MAX_NS : poll_ns * 2;
    }
    engine_unlock();
    if (!worked || !idle_spin())
        idle_sleep(timeout);
    engine_lock();
    if (poll)
        poller_present = false;
}

static void *engine_thread(void *argument)
{
    struct view_slot *slot = argument;
    uint32_t fruitless = 0;
    bool worked = true;

    engine_lock();
    for (;;) {
        struct task *task = task_pop();

        if (!task) {
            engine_idle(worked);
            worked = false;
            continue;
        }
        worked = true;
        fruitless = turn_run(task, slot) ? fruitless + 1 : 0;
        if (polled) {
            polled_look();
            engine_pump();
        }
        if (fruitless > atomic_load_explicit(&queued, memory_order_relaxed)) {
            fruitless = 0;
            engine_unlock();
            nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
            engine_lock();
        }
    }
    return NULL;
}

static void *callback_thread(void *argument)
{
    (void)argument;
    engine_lock();
    for (;;) {
        struct op *op = callback_head;

        if (!op) {
            pthread_cond_wait(&callback_added, &lock);
            continue;
        }
        callback_head = op->link;
        engine_unlock();
        op->host.function(op->host.data);
        engine_lock();
        engine_op_finish(op);
        engine_pump();
    }
    return NULL;
}

// Signals are the application's: no thread of ours takes one.
static int thread_start(void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    pthread_t thread;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        pthread_detach(thread);
    return failed;
}

CUresult engine_init(void)
{
    place_init();
    pump_slot = view_slot_new();
    return pump_slot ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

// With fewer threads than asked for the device works all the same; with none it does not.
CUresult engine_start(void)
{
    uint32_t running = 0;
    CUresult result;

    engine_lock();
    while (!started && running < device_config()->thread_count) {
        struct view_slot *slot = view_slot_new();

        if (!slot || thread_start(engine_thread, slot))
            break;
        running++;
    }
    started |= running > 0;
    result = started ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    engine_unlock();
    return result;
}

CUresult engine_callbacks_start(void)
{
    CUresult result;

    engine_lock();
    if (!callbacks_started)
        callbacks_started = thread_start(callback_thread, NULL) == 0;
    result = callbacks_started ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    engine_unlock();
    return result;
}
