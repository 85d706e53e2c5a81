/* word_queue.c - see word_queue.h. */
#include "server/base/word_queue.h"

#include <stdlib.h>

#define ROOM_FIRST 64u

static uint64_t *word_at(const struct word_queue *queue, uint32_t i)
{
    return &queue->word[(queue->first + i) & (queue->room - 1)];
}

static bool grow(struct word_queue *queue)
{
    const uint32_t room = queue->room ? 2 * queue->room : ROOM_FIRST;
    uint64_t *word = room <= WORDS_MAX ? calloc(room, sizeof(*word)) : NULL;

    if (!word)
        return false;
    for (uint32_t i = 0; i < queue->count; i++)
        word[i] = *word_at(queue, i);
    free(queue->word);
    *queue = (struct word_queue){word, 0, queue->count, room};
    return true;
}

bool word_queue_push(struct word_queue *queue, uint64_t word)
{
    if (queue->count == queue->room && !grow(queue))
        return false;
    *word_at(queue, queue->count++) = word;
    return true;
}

uint64_t word_queue_pop(struct word_queue *queue)
{
    const uint64_t word = *word_at(queue, 0);

    queue->first++;
    queue->count--;
    return word;
}

void word_queue_deinit(struct word_queue *queue)
{
    free(queue->word);
    *queue = (struct word_queue){0};
}
