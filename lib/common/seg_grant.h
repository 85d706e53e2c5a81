/*
 * seg_grant.h - writing and reading a session's grant, which may change during a read.
 *
 * The worker is the only writer; the tenant's threads read. The sequence is odd while the writer
 * changes the other words. All accesses are atomic words, because a race of plain accesses would be
 * undefined.
 */
#ifndef GS_COMMON_SEG_GRANT_H
#define GS_COMMON_SEG_GRANT_H

#include <stdbool.h>

#include "common/wire.h"

#define SEG_GRANT_WORDS (sizeof(struct seg_grant) / sizeof(uint32_t))

/* Writes the grant. `sequence` is even; the writer counts it in its own memory, because the tenant
 * could change the sequence in shared memory. */
static inline void seg_grant_write(struct seg_grant *shared, const struct seg_grant *grant,
                                   uint32_t sequence)
{
    _Atomic uint32_t *to = (_Atomic uint32_t *)shared;
    const uint32_t *from = (const uint32_t *)(const void *)grant;

    atomic_store_explicit(&to[0], sequence - 1, memory_order_relaxed);
    /* release: a reader that sees one of these words also sees the odd sequence or a later one */
    for (uint32_t i = 1; i < SEG_GRANT_WORDS; i++)
        atomic_store_explicit(&to[i], from[i], memory_order_release);
    /* release: pairs with the reader's first load */
    atomic_store_explicit(&to[0], sequence, memory_order_release);
}

/* Copies the grant. Returns false if the writer changed it meanwhile; *grant is complete only on
 * true. */
static inline bool seg_grant_read(const struct seg_grant *shared, struct seg_grant *grant)
{
    const _Atomic uint32_t *from = (const _Atomic uint32_t *)(const void *)shared;
    uint32_t *to = (uint32_t *)(void *)grant;
    uint32_t sequence = atomic_load_explicit(&from[0], memory_order_acquire);

    if (sequence % 2)
        return false;
    for (uint32_t i = 1; i < SEG_GRANT_WORDS; i++)
        to[i] = atomic_load_explicit(&from[i], memory_order_acquire);
    return atomic_load_explicit(&from[0], memory_order_relaxed) == sequence;
}

#endif
