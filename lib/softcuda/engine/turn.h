// Turns, as the engine's threads and the application's waiting threads run them. For the engine
// only.
#ifndef GS_SOFTCUDA_ENGINE_TURN_H
#define GS_SOFTCUDA_ENGINE_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "softcuda/memory/memory.h"
#include "softcuda/sched/queue.h"

// Runs one turn of TASK with at most BUDGET warp instructions. Called with the scheduling lock
// held, which it releases meanwhile. True: the task only waits for time to pass.
bool turn_run(struct task *task, struct view_slot *slot, uint64_t budget);

// Runs one short turn of the next task, if there is one, on the calling thread. Called without the
// lock.
void engine_lend_hand(void);

#endif
