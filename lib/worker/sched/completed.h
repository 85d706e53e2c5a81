/*
 * completed.h - the one reader of a session's completion words. The device writes them, and so can
 * the tenant, whose segment holds them: a word is a hint, or is checked before it is used. Any
 * thread.
 */
#ifndef GS_WORKER_SCHED_COMPLETED_H
#define GS_WORKER_SCHED_COMPLETED_H

#include "worker/session_parts.h"

/* Where a stream's completion word lies, by the index of the stream. */
static inline const _Atomic uint64_t *completion_word(const struct session *session, uint32_t index)
{
    const struct seg_complete *complete = (const void *)(session->segment + SEG_OFF_COMPLETE);

    return &complete->position[index];
}

/* The position in the stream's ring up to which all is complete, by its completion word. */
static inline uint64_t stream_completed(const struct session *session, uint32_t index)
{
    /* relaxed: a number by itself */
    return atomic_load_explicit(completion_word(session, index), memory_order_relaxed);
}

/* The same position; what the device wrote before the word is visible afterwards. */
static inline uint64_t stream_completed_acquire(const struct session *session, uint32_t index)
{
    return atomic_load_explicit(completion_word(session, index), memory_order_acquire);
}

#endif
