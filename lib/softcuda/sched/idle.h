// Threads without work: the engine's workers, which wait for tasks, and callers, the application's
// threads that wait for a stream. Both spin before they sleep, so that a launch costs no wake-up.
#ifndef GS_SOFTCUDA_SCHED_IDLE_H
#define GS_SOFTCUDA_SCHED_IDLE_H

#include <stdbool.h>
#include <stdint.h>

// ---- Workers. POLLED: some stream waits for a word in memory, at which a thread has to look from
// time to time. One worker, the poller, sleeps with a timeout for that.

// Is called with the lock, and wakes a sleeping worker for each task that no spinning worker will
// take, and one that becomes the poller where there is none.
void workers_wake(bool polled);
bool workers_have_poller(void);

// Both are called with the lock, around a worker's idling. POLLER: this worker is the poller
// meanwhile.
void worker_idle_begin(bool polled, bool poller);
void worker_idle_end(bool polled, bool poller);
// Is called without the lock, between the two. Spins for a short while; true: there is work.
bool worker_spin(void);
// Sleeps until it is woken, or TIMEOUT_NS have passed unless that is 0.
void worker_sleep(uint64_t timeout_ns);

// ---- Callers. Without the lock.

// Wakes all callers that sleep, since a stream came further or a context failed.
void callers_wake(void);

// Both are called around a caller's sleeping. Between the two the caller takes the generation,
// looks at what it waits for, and sleeps unless callers_wake was called since it took the
// generation.
void caller_sleep_begin(void);
void caller_sleep_end(void);
uint32_t caller_generation(void);
void caller_sleep(uint32_t generation);

#endif
