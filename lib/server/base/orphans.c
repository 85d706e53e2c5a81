/* orphans.c - see orphans.h. */
#include "server/base/orphans.h"

void orphan_add(struct orphans *orphans, pid_t pid, int status)
{
    const uint64_t end = (uint64_t)(uint32_t)pid << 32 | (uint32_t)status;

    /* Relaxed throughout: a note is one word. */
    atomic_store_explicit(&orphans->end[orphans->next % ORPHANS_MOST], end, memory_order_relaxed);
    orphans->next = (orphans->next + 1) % ORPHANS_MOST;
}

bool orphan_take(struct orphans *orphans, pid_t pid, int *status)
{
    for (uint32_t i = 0; i < ORPHANS_MOST; i++) {
        uint64_t end = atomic_load_explicit(&orphans->end[i], memory_order_relaxed);

        if (end >> 32 != (uint32_t)pid)
            continue;
        *status = (int)(uint32_t)end;
        /* The keeper may have written another process's note there meanwhile. */
        atomic_compare_exchange_strong_explicit(&orphans->end[i], &end, 0, memory_order_relaxed,
                                                memory_order_relaxed);
        return true;
    }
    return false;
}

void orphan_remove(struct orphans *orphans, pid_t pid)
{
    int status;

    while (orphan_take(orphans, pid, &status))
        continue;
}
