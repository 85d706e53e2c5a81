/* handles.c - see handles.h. */
#include "cudart/base/handles.h"

static uint64_t handle_make(const struct handles *handles, uint32_t number, uint32_t generation)
{
    return (uint64_t)generation << 24 | (uint64_t)number << 4 | handles->tag;
}

int handles_take(struct handles *handles, uint64_t *handle)
{
    int number = -1;

    pthread_mutex_lock(&handles->lock);
    if (handles->free != 0) {
        number = (int)handles->free - 1;
        handles->free = handles->slot[number].next_free;
    } else if (handles->fresh < handles->count) {
        number = (int)handles->fresh++;
    }
    pthread_mutex_unlock(&handles->lock);
    if (number >= 0)
        *handle = handle_make(handles, (uint32_t)number,
                              atomic_load(&handles->slot[number].generation) + 1);
    return number;
}

void handles_open(struct handles *handles, int number)
{
    atomic_fetch_add_explicit(&handles->slot[number].generation, 1, memory_order_release);
}

void handles_free(struct handles *handles, int number)
{
    pthread_mutex_lock(&handles->lock);
    handles->slot[number].next_free = handles->free;
    handles->free = (uint32_t)number + 1;
    pthread_mutex_unlock(&handles->lock);
}

int handles_close(struct handles *handles, uint64_t handle)
{
    int number = handles_find(handles, handle);
    uint32_t generation = (uint32_t)(handle >> 24);

    /* If two threads end the same handle, one succeeds. */
    if (number < 0 || !atomic_compare_exchange_strong(&handles->slot[number].generation,
                                                      &generation, generation + 1))
        return -1;
    return number;
}

uint64_t handles_of(struct handles *handles, int number)
{
    uint32_t generation = atomic_load(&handles->slot[number].generation);

    return generation & 1 ? handle_make(handles, (uint32_t)number, generation) : 0;
}
