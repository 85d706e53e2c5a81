/* limits.c - see limits.h. */
#include "worker/memory/limits.h"

#include "worker/driver/worker.h"
#include "worker/memory/window.h"

/* Relaxed: each limit is a number by itself, and what was allocated before a change stays. */
uint64_t memory_limit_set(struct session *session, uint64_t mem_limit, uint64_t user_mem_limit)
{
    uint64_t most = window_capacity(session);

    if (!most || most > worker->info.memory_total)
        most = worker->info.memory_total;
    if (!mem_limit || mem_limit > most)
        mem_limit = most;
    atomic_store_explicit(&session->memory.limit, mem_limit, memory_order_relaxed);
    atomic_store_explicit(&session->memory.user_limit, user_mem_limit, memory_order_relaxed);
    return mem_limit;
}

struct limits memory_limits(const struct session *session)
{
    return (struct limits){
        atomic_load_explicit(&session->memory.limit, memory_order_relaxed),
        atomic_load_explicit(&session->memory.user_limit, memory_order_relaxed),
    };
}
