// malloc and free of kernels. Engine threads call them in the middle of a turn, so each heap has a
// lock of its own, a leaf that is held for a few instructions.
#include "softcuda/memory/heap.h"

#include <pthread.h>
#include <stdlib.h>

#include "softcuda/memory/units.h"

enum { HEAP_UNIT = 64 };

struct heap {
    pthread_mutex_t lock;
    uint64_t base;
    struct units *units;
};

struct heap *heap_new(uint64_t base, uint64_t size)
{
    struct heap *h = calloc(1, sizeof(*h));

    if (!h)
        return NULL;
    h->base = base;
    h->units = units_new(size / HEAP_UNIT);
    if (!h->units) {
        free(h);
        return NULL;
    }
    pthread_mutex_init(&h->lock, NULL);
    return h;
}

void heap_free(struct heap *heap)
{
    if (!heap)
        return;
    pthread_mutex_destroy(&heap->lock);
    free(heap->units);
    free(heap);
}

uint64_t heap_allocate(struct heap *heap, uint64_t size)
{
    uint32_t first = UNITS_NONE;

    if (size <= (uint64_t)heap->units->count * HEAP_UNIT) {
        pthread_mutex_lock(&heap->lock);
        first = units_take(heap->units, size ? (size + HEAP_UNIT - 1) / HEAP_UNIT : 1);
        pthread_mutex_unlock(&heap->lock);
    }
    return first == UNITS_NONE ? 0 : heap->base + (uint64_t)first * HEAP_UNIT;
}

bool heap_release(struct heap *heap, uint64_t address)
{
    uint64_t offset = address - heap->base;
    uint32_t given = 0;

    if (offset % HEAP_UNIT || offset / HEAP_UNIT >= heap->units->count)
        return false;
    pthread_mutex_lock(&heap->lock);
    given = units_give(heap->units, offset / HEAP_UNIT);
    pthread_mutex_unlock(&heap->lock);
    return given != 0;
}
