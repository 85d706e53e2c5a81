// Scheduling on the virtual SMs: the lock of all scheduling, the run queue, who sleeps and is
// woken, and which block runs on which SM.
//
// Owns the scheduling lock, the queue of tasks, the queue of callbacks and the SMs. Engine threads
// and the application's threads run it with the lock held, except where a function says otherwise;
// the lock is held between turns, never during one. Nothing here knows streams or operations: a
// caller hands in grids and tasks, and is told which grids are done (grid.h).
//
// May include: module, context, interp, memory, device.
#ifndef GS_SOFTCUDA_SCHED_SCHED_H
#define GS_SOFTCUDA_SCHED_SCHED_H

#include <pthread.h>

void sched_lock(void);
void sched_unlock(void);
// Gives the lock back until SIGNALLED is signalled, then takes it again.
void sched_lock_wait(pthread_cond_t *signalled);

#endif
