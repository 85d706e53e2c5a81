// Threads without work. State: futex words and counts, lock-free, except for whether there is a
// poller, which is under the scheduling lock.
#include "softcuda/sched/idle.h"

#include <stdatomic.h>

#include "common/util.h"
#include "softcuda/sched/queue.h"

enum { SPIN_WORKER_NS = 30000 };

static bool poller_present; // under the lock

// Streams wait for words in memory and there is no poller. Written under the lock, read without it.
static _Atomic bool unattended;
static _Atomic uint32_t spinners;
// Workers that sleep, and the word that they sleep on.
static _Atomic uint32_t sleepers, work_generation;
// Callers that sleep, and the word that they sleep on.
static _Atomic uint32_t waiters, done_generation;

// Sleeps on a private futex: nothing here is shared between processes. TIMEOUT_NS 0: none.
static void sleep_on(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec t = {timeout_ns / 1000000000, timeout_ns % 1000000000};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns ? &t : NULL, NULL, 0);
}

static void wake_on(_Atomic uint32_t *word, uint32_t count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

// ---- Workers

static bool unattended_note(bool polled)
{
    bool now = polled && !poller_present;

    // Sequentially consistent: pairs with the load in worker_sleep.
    atomic_store(&unattended, now);
    return now;
}

void workers_wake(bool polled)
{
    uint32_t work = unattended_note(polled) + tasks_queued(), spinning = atomic_load(&spinners);

    if (work > spinning && atomic_load(&sleepers)) {
        atomic_fetch_add(&work_generation, 1);
        wake_on(&work_generation, work - spinning);
    }
}

bool workers_have_poller(void)
{
    return poller_present;
}

void worker_idle_begin(bool polled, bool poller)
{
    poller_present |= poller;
    unattended_note(polled);
}

void worker_idle_end(bool polled, bool poller)
{
    if (poller)
        poller_present = false;
    unattended_note(polled);
}

// One worker at a time spins; the others sleep at once.
bool worker_spin(void)
{
    uint32_t nobody = 0;
    uint64_t deadline;
    bool found = false;

    if (!atomic_compare_exchange_strong(&spinners, &nobody, 1))
        return false;
    deadline = clock_ns() + SPIN_WORKER_NS;
    for (uint32_t i = 1; !found; i++) {
        found = tasks_queued() != 0 || atomic_load_explicit(&unattended, memory_order_relaxed);
        cpu_relax();
        if (i % 64 == 0 && clock_ns() > deadline)
            break;
    }
    atomic_store(&spinners, 0);
    return found;
}

void worker_sleep(uint64_t timeout_ns)
{
    uint32_t generation = atomic_load(&work_generation);

    // Sequentially consistent: pairs with the load in workers_wake.
    atomic_fetch_add(&sleepers, 1);
    if (!tasks_queued() && (timeout_ns || !atomic_load(&unattended)))
        sleep_on(&work_generation, generation, timeout_ns);
    atomic_fetch_sub(&sleepers, 1);
}

// ---- Callers

void callers_wake(void)
{
    // A read-modify-write, which pairs with that of caller_sleep_begin: the later of the two sees
    // the caller, or the completion before it.
    if (atomic_fetch_add(&waiters, 0)) {
        atomic_fetch_add(&done_generation, 1);
        wake_on(&done_generation, INT32_MAX);
    }
}

void caller_sleep_begin(void)
{
    atomic_fetch_add(&waiters, 1);
}

void caller_sleep_end(void)
{
    atomic_fetch_sub(&waiters, 1);
}

uint32_t caller_generation(void)
{
    return atomic_load(&done_generation);
}

void caller_sleep(uint32_t generation)
{
    sleep_on(&done_generation, generation, 0);
}
