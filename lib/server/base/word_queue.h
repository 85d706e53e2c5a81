/*
 * word_queue.h - words that wait for their turn, the oldest first. Pure; the supervisor's thread.
 */
#ifndef GS_SERVER_WORD_QUEUE_H
#define GS_SERVER_WORD_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* A queue is never longer than this. */
#define WORDS_MAX (UINT32_C(1) << 21)

/* All zero: empty. */
struct word_queue {
    uint64_t *word;
    uint32_t first, count;
    uint32_t room; /* a power of two, or 0 */
};

/* Returns false if there is no memory or the queue is full. */
bool word_queue_push(struct word_queue *queue, uint64_t word);
/* The queue must not be empty. */
uint64_t word_queue_pop(struct word_queue *queue);
void word_queue_deinit(struct word_queue *queue);

#endif
