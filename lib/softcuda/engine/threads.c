// The engine's threads: workers, which take tasks from the run queue and run their turns, and the
// callback thread, which runs functions of the host. Workers without tasks spin briefly, then
// sleep.
#include "softcuda/engine/engine.h"

#include <pthread.h>
#include <signal.h>

#include "common/util.h"
#include "softcuda/engine/turn.h"
#include "softcuda/memory/memory.h"
#include "softcuda/sched/grid.h"
#include "softcuda/sched/idle.h"
#include "softcuda/sched/sched.h"
#include "softcuda/stream/order.h"

enum {
    TURN_BUDGET = 2048,   // warp instructions: 20 to 40 us of arithmetic
    POLL_MIN_NS = 50000,  // interval at which words for which streams wait are checked, at first,
    POLL_MAX_NS = 500000, // and when they have not changed for a long time
    PAUSE_NS = 20000,     // when all tasks only wait for time to pass
};

// Both are guarded by the scheduling lock.
static uint64_t poll_ns = POLL_MIN_NS, poll_seen;
static bool started, callbacks_started;

// How long to sleep before checking the words for which streams wait; 0: there are none, or another
// thread checks them. The interval doubles while nothing changes.
static uint64_t poll_plan(void)
{
    uint64_t changed, plan;

    if (!order_polls(&changed) || workers_have_poller())
        return 0;
    if (changed != poll_seen)
        poll_ns = POLL_MIN_NS;
    poll_seen = changed;
    plan = poll_ns;
    poll_ns = plan * 2 > POLL_MAX_NS ? POLL_MAX_NS : plan * 2;
    return plan;
}

// Called with the lock held and without a task. WORKED: this thread had a task just now; more may
// follow.
static void engine_idle(bool worked)
{
    uint64_t timeout, changed;

    order_poll();
    order_pump();
    if (tasks_queued())
        return;
    timeout = poll_plan();
    worker_idle_begin(order_polls(&changed), timeout != 0);
    sched_unlock();
    if (!worked || !worker_spin())
        worker_sleep(timeout);
    sched_lock();
    worker_idle_end(order_polls(&changed), timeout != 0);
}

static void *engine_thread(void *argument)
{
    struct view_slot *slot = argument;
    uint32_t fruitless = 0;
    bool worked = true;

    sched_lock();
    for (;;) {
        struct task *task = task_pop();

        if (!task) {
            engine_idle(worked);
            worked = false;
            continue;
        }
        worked = true;
        fruitless = turn_run(task, slot, TURN_BUDGET) ? fruitless + 1 : 0;
        order_poll();
        order_pump();
        if (fruitless > tasks_queued()) {
            fruitless = 0;
            sched_unlock();
            nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
            sched_lock();
        }
    }
    return NULL;
}

static void *callback_thread(void *argument)
{
    (void)argument;
    sched_lock();
    for (;;) {
        struct op *op = op_of_task(callback_pop());

        sched_unlock();
        op->host.function(op->host.data);
        sched_lock();
        order_finish(op);
        order_pump();
    }
    return NULL;
}

// Signals belong to the application: the engine's threads block all of them.
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

// The device works with fewer threads than requested, but not without any.
CUresult engine_start(void)
{
    uint32_t running = 0;
    CUresult result;

    sched_lock();
    while (!started && running < device_config()->thread_count) {
        struct view_slot *slot = view_slot_new();

        if (!slot || thread_start(engine_thread, slot))
            break;
        running++;
    }
    started |= running > 0;
    result = started ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    sched_unlock();
    return result;
}

CUresult engine_callbacks_start(void)
{
    CUresult result;

    sched_lock();
    if (!callbacks_started)
        callbacks_started = thread_start(callback_thread, NULL) == 0;
    result = callbacks_started ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    sched_unlock();
    return result;
}
