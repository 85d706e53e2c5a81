// The run queue: tasks by priority, and callbacks in order of arrival.
#ifndef GS_SOFTCUDA_SCHED_QUEUE_H
#define GS_SOFTCUDA_SCHED_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "softcuda/device/device.h"

enum { TASK_LEVELS = DEVICE_LEAST_PRIORITY - DEVICE_GREATEST_PRIORITY + 1 };

// A task is a unit of work: a resident block, an operation that moves memory, or a host function.
struct task {
    struct task *next;
    bool is_block;
    uint8_t level; // of priority, the lowest 0
};

void task_push(struct task *task);
// Takes the next task of the highest level, and now and then of the lowest. NULL: there is none.
struct task *task_pop(void);
// Counts the tasks in the queue. Any thread, without the lock; sequentially consistent.
uint32_t tasks_queued(void);

void callback_push(struct task *callback);
// Waits for a callback; gives the lock back meanwhile.
struct task *callback_pop(void);

#endif
