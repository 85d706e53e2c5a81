// The engine's threads and their run queue.
//
// One lock guards it all; turns run without it. A turn is one resident block for TURN_BUDGET warp
// instructions, or a few megabytes of a copy; then the next task in the queue has its turn, so that
// no kernel, however long, keeps another from advancing. Threads without work spin briefly, then
// sleep.
#include "softcuda/engine.h"
#include "softcuda/engine_parts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util.h"
#include "softcuda/grid.h"
#include "softcuda/memory.h"

enum {
    LEVELS = DEVICE_LEAST_PRIORITY - DEVICE_GREATEST_PRIORITY + 1,
    TURN_BUDGET = 2048,     // warp instructions: 20 to 40 us of arithmetic
    HAND_BUDGET = 256,      // of a thread that lends a hand: it has its own to get back to
    FAIRNESS = 8,           // every 8th turn goes to the lowest level that has a task
    SPIN_ENGINE_NS = 30000, // an idle thread's patience
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
static bool poller_present;
static uint64_t poll_ns = POLL_MIN_NS, poll_seen;
static bool started;

// ---- Without it

// Tasks in the queue; written under the lock, read by spinning threads.
static _Atomic uint32_t queued;
// Streams wait for words that no thread looks at; likewise.
static _Atomic bool unattended;
static _Atomic uint32_t spinners;
// Engine threads asleep, and the word that they sleep on.
static _Atomic uint32_t sleepers, work_generation;

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
void sleep_on(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec t = {timeout_ns / 1000000000, timeout_ns % 1000000000};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns ? &t : NULL, NULL, 0);
}

void wake_on(_Atomic uint32_t *word, uint32_t count)
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

// Notes whether words that streams wait for have no thread that looks at them. True: they have
// none.
static bool unattended_note(void)
{
    uint64_t changed;
    bool now = polled_present(&changed) && !poller_present;

    atomic_store(&unattended, now); // seq_cst, against the sleepers' check in idle_sleep
    return now;
}

void engine_threads_wake(void)
{
    uint32_t work = unattended_note() + atomic_load(&queued), spinning = atomic_load(&spinners);

    if (work > spinning && atomic_load(&sleepers)) {
        atomic_fetch_add(&work_generation, 1);
        wake_on(&work_generation, work - spinning);
    }
}

void callback_push(struct op *op)
{
    op->link = NULL;
    if (callback_head)
        callback_tail->link = op;
    else
        callback_head = op;
    callback_tail = op;
    pthread_cond_signal(&callback_added);
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
                                   struct view_slot *slot, uint64_t budget,
                                   struct exec_fault *fault)
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
    status = exec_block_run(r->block, view, budget, fault);
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
static bool turn_run(struct task *task, struct view_slot *slot, uint64_t budget)
{
    struct mem_view view;
    struct exec_fault fault = {0};
    enum exec_status status = EXEC_DONE;

    engine_unlock();
    if (task->is_block) {
        struct resident *r = (struct resident *)task;

        status = block_turn(r, &view, slot, budget, &fault);
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

bool engine_has_tasks(void)
{
    return atomic_load_explicit(&queued, memory_order_relaxed) != 0;
}

void engine_lend_hand(void)
{
    struct view_slot *slot = view_slot_new();
    struct task *task;

    if (!slot)
        return;
    engine_lock();
    task = task_pop();
    if (task)
        turn_run(task, slot, HAND_BUDGET);
    engine_unlock();
    view_slot_free(slot);
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
        found = atomic_load_explicit(&queued, memory_order_relaxed) != 0 ||
                atomic_load_explicit(&unattended, memory_order_relaxed);
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
    if (!atomic_load(&queued) && (timeout_ns || !atomic_load(&unattended)))
        sleep_on(&work_generation, generation, timeout_ns);
    atomic_fetch_sub(&sleepers, 1);
}

// How long to sleep before the words that streams wait for are looked at again; 0: there are none,
// or another thread does it. The longer nothing changes, the longer.
static uint64_t poll_plan(void)
{
    uint64_t changed, plan;

    if (!polled_present(&changed) || poller_present)
        return 0;
    if (changed != poll_seen)
        poll_ns = POLL_MIN_NS;
    poll_seen = changed;
    plan = poll_ns;
    poll_ns = plan * 2 > POLL_MAX_NS ? POLL_MAX_NS : plan * 2;
    return plan;
}

// Called with the lock and without a task. WORKED: this thread had one just now; more may follow.
static void engine_idle(bool worked)
{
    uint64_t timeout;

    polled_look();
    engine_pump();
    if (atomic_load_explicit(&queued, memory_order_relaxed))
        return;
    timeout = poll_plan();
    poller_present |= timeout != 0;
    unattended_note();
    engine_unlock();
    if (!worked || !idle_spin())
        idle_sleep(timeout);
    engine_lock();
    if (timeout)
        poller_present = false;
    unattended_note();
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
        fruitless = turn_run(task, slot, TURN_BUDGET) ? fruitless + 1 : 0;
        polled_look();
        engine_pump();
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
    return order_init() ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
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
