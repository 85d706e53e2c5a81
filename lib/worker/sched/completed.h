/*
 * completed.h - reads a session's completion words; all reads go through here. The device writes
 * the words, and so can the tenant, whose segment holds them. So a word is only a hint, or is
 * checked before it is used. Called by any thread.
 */
#ifndef GS_WORKER_SCHED_COMPLETED_H
#define GS_WORKER_SCHED_COMPLETED_H

#include "worker/session_parts.h"

/* Returns the completion word of the stream with this index. */
static inline const _Atomic uint64_t *completion_word(const struct session *session, uint32_t index)
{
    const struct seg_complete *complete = (const void *)(session->segment + SEG_OFF_COMPLETE);

    return &complete->position[index];
}

/* Returns the position in the stream's ring up to which all is complete, according to its
 * completion word. */
static inline uint64_t stream_completed(const struct session *session, uint32_t index)
{
    /* relaxed: a number by itself */
    return atomic_load_explicit(completion_word(session, index), memory_order_relaxed);
}

/* Returns the same position, and makes visible what the device wrote before it stored the word. */
static inline uint64_t stream_completed_acquire(const struct session *session, uint32_t index)
{
    return atomic_load_explicit(completion_word(session, index), memory_order_acquire);
}

#endif
