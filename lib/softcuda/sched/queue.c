// The run queue. State under the scheduling lock, except the count of tasks, which threads without
// work read in a spin loop.
#include "softcuda/sched/queue.h"

#include <stdatomic.h>
#include <stddef.h>

#include "softcuda/sched/sched.h"

enum { FAIRNESS = 8 }; // each 8th task comes from the lowest level that has one

struct task_list {
    struct task *head, *tail;
};

static struct task_list tasks[TASK_LEVELS];
static uint64_t popped;
static _Atomic uint32_t queued; // written under the lock, read without it

static struct task_list callbacks;
static pthread_cond_t callback_added = PTHREAD_COND_INITIALIZER;

static void list_push(struct task_list *list, struct task *task)
{
    task->next = NULL;
    if (list->head)
        list->tail->next = task;
    else
        list->head = task;
    list->tail = task;
}

static struct task *list_pop(struct task_list *list)
{
    struct task *task = list->head;

    if (task)
        list->head = task->next;
    return task;
}

void task_push(struct task *task)
{
    list_push(&tasks[task->level], task);
    // Sequentially consistent: pairs with the load in worker_sleep, so that either the worker sees
    // this task or workers_wake sees the sleeper.
    atomic_fetch_add(&queued, 1);
}

struct task *task_pop(void)
{
    bool lowest = ++popped % FAIRNESS == 0;

    for (int i = 0; i < TASK_LEVELS; i++) {
        struct task *task = list_pop(&tasks[lowest ? i : TASK_LEVELS - 1 - i]);

        if (task) {
            atomic_fetch_sub_explicit(&queued, 1, memory_order_relaxed);
            return task;
        }
    }
    return NULL;
}

uint32_t tasks_queued(void)
{
    return atomic_load(&queued);
}

void callback_push(struct task *callback)
{
    list_push(&callbacks, callback);
    pthread_cond_signal(&callback_added);
}

struct task *callback_pop(void)
{
    struct task *callback;

    while (!(callback = list_pop(&callbacks)))
        sched_lock_wait(&callback_added);
    return callback;
}
