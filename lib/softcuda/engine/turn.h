// Turns, as the engine's threads and the application's waiting threads run them. For the engine
// only.
#ifndef GS_SOFTCUDA_ENGINE_TURN_H
#define GS_SOFTCUDA_ENGINE_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "softcuda/memory/memory.h"
#include "softcuda/sched/queue.h"

// Runs one turn of TASK with BUDGET warp instructions at most. Called with the scheduling lock
// held, which it gives up meanwhile. True: the task only waits for time to pass.
bool turn_run(struct task *task, struct view_slot *slot, uint64_t budget);

// Runs one short turn of the next task on the calling thread, if there is one. Without the lock.
void engine_lend_hand(void);

#endif
