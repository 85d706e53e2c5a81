/* limits.c - see limits.h. */
#include "worker/memory/limits.h"

#include <pthread.h>
#include <unistd.h>

#include "common/machine_memory.h"
#include "worker/driver/worker.h"
#include "worker/memory/window.h"

#define HOST_BYTES_MAX (UINT64_C(16) << 30)

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

void user_limits_set(struct session *session, const struct link_grant *grant)
{
    struct session_memory *memory = &session->memory;

    atomic_store_explicit(&memory->user_hosts, grant->user_hosts, memory_order_relaxed);
    atomic_store_explicit(&memory->user_host_mem, grant->user_host_mem, memory_order_relaxed);
    atomic_store_explicit(&memory->all_host_mem, grant->all_host_mem, memory_order_relaxed);
    atomic_store_explicit(&memory->host_mem_granted, grant->host_mem_granted, memory_order_relaxed);
    atomic_store_explicit(&memory->user_driver_mem, grant->user_driver_mem, memory_order_relaxed);
}

static uint64_t host_most;

static void host_limit_find(void)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), eighth = machine_memory() / 8;

    host_most = eighth < HOST_BYTES_MAX ? eighth / page * page : HOST_BYTES_MAX;
}

uint64_t host_limit(void)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT;

    pthread_once(&found, host_limit_find);
    return host_most;
}

struct host_limits host_limits(const struct session_memory *memory)
{
    return (struct host_limits){
        atomic_load_explicit(&memory->user_host_mem, memory_order_relaxed),
        atomic_load_explicit(&memory->all_host_mem, memory_order_relaxed),
        atomic_load_explicit(&memory->host_mem_granted, memory_order_relaxed),
    };
}

struct limits memory_limits(const struct session *session)
{
    return (struct limits){
        atomic_load_explicit(&session->memory.limit, memory_order_relaxed),
        atomic_load_explicit(&session->memory.user_limit, memory_order_relaxed),
        atomic_load_explicit(&session->memory.user_driver_mem, memory_order_relaxed),
    };
}
