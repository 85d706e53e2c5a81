/* trace.c - the rings of a trace segment; see trace.h. */
#include "common/trace.h"

#include <string.h>

#define MASK ((uint64_t)TRACE_EVENTS - 1)
static_assert((TRACE_EVENTS & (TRACE_EVENTS - 1)) == 0, "TRACE_EVENTS is a power of two");

void trace_ring_put(struct trace_ring *ring, const struct trace_event *event)
{
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    _Atomic uint64_t *slot = ring->word[head & MASK];
    uint64_t word[TRACE_WORDS];

    memcpy(word, event, sizeof(word));
    /* Release: the head of the event before is visible before any word of this one, so that a
     * reader that finds a word of this event finds that head too. Pairs with trace_ring_take. */
    for (uint32_t i = 0; i < TRACE_WORDS; i++)
        atomic_store_explicit(&slot[i], word[i], memory_order_release);
    /* release: the words before the head that counts the event */
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

bool trace_ring_take(struct trace_ring *ring, uint64_t *next, struct trace_event *event,
                     uint64_t *lost)
{
    uint64_t word[TRACE_WORDS];

    for (;;) {
        /* acquire: makes the words of the events before the head visible */
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (head - *next > UINT64_MAX / 2 || head == *next)
            return false;
        if (head - *next < TRACE_EVENTS) {
            const _Atomic uint64_t *slot = ring->word[*next & MASK];
            for (uint32_t i = 0; i < TRACE_WORDS; i++)
                word[i] = atomic_load_explicit(&slot[i], memory_order_acquire);
            /* The acquire loads come first: if one of them found a word of a later event, this load
             * finds that event's head. */
            head = atomic_load_explicit(&ring->head, memory_order_relaxed);
        }
        if (head - *next < TRACE_EVENTS) {
            memcpy(event, word, sizeof(word));
            ++*next;
            return true;
        }
        /* The producer may be writing over the oldest event at this moment. */
        *lost += head - *next - (TRACE_EVENTS - 1);
        *next = head - (TRACE_EVENTS - 1);
    }
}
