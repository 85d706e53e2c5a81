/* graph_memory.c - see graph_memory.h. One lock guards all of it. */
#include "cudart/graph/graph_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cudart/state/device.h"
#include "cudart/state/device_memory.h"

struct graph_memory {
    struct graph_memory *next;
    void *ptr; /* NULL: the memory is gone with its session */
    size_t size;
    unsigned device; /* its number */
    unsigned holders;
    bool used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct graph_memory *memories;
/* The number of memories, so that a free takes no lock while there are none. */
static _Atomic unsigned count;
static struct graph_memory_figures figures[DEVICES_MAX]; /* by device number */

/* ---- Parts: the lock is held ----------------------------------------------------------------- */

static struct graph_memory *memory_find(const void *ptr)
{
    struct graph_memory *memory = memories;

    while (memory != NULL && memory->ptr != ptr)
        memory = memory->next;
    return memory;
}

static void high_note(struct graph_memory_figures *own)
{
    if (own->used > own->used_high)
        own->used_high = own->used;
    if (own->reserved > own->reserved_high)
        own->reserved_high = own->reserved;
}

static void memory_use(struct graph_memory *memory, bool used)
{
    struct graph_memory_figures *own = &figures[memory->device];

    if (memory->ptr != NULL && used && !memory->used)
        own->used += memory->size;
    if (memory->ptr != NULL && !used && memory->used)
        own->used -= memory->size;
    memory->used = used;
    high_note(own);
}

/* Removes the memory from the list if nobody holds it, and returns what the caller must free
 * without the lock. */
static void *memory_end(struct graph_memory *memory)
{
    struct graph_memory **link = &memories;
    void *ptr = memory->ptr;

    if (memory->holders != 0 || memory->used)
        return NULL;
    while (*link != memory)
        link = &(*link)->next;
    *link = memory->next;
    atomic_fetch_sub(&count, 1);
    if (ptr != NULL)
        figures[memory->device].reserved -= memory->size;
    free(memory);
    return ptr;
}

/* ---- What is called -------------------------------------------------------------------------- */

cudaError_t graph_memory_new(size_t size, struct graph_memory **out)
{
    struct graph_memory *memory = size != 0 ? calloc(1, sizeof(*memory)) : NULL;
    cudaError_t error = size != 0 ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;

    if (memory != NULL)
        error = device_memory_alloc(&memory->ptr, size);
    if (error != cudaSuccess) {
        free(memory);
        return error;
    }
    memory->size = size;
    memory->device = device_number();
    memory->holders = 1;
    pthread_mutex_lock(&lock);
    memory->next = memories;
    memories = memory;
    figures[memory->device].reserved += size;
    high_note(&figures[memory->device]);
    atomic_fetch_add(&count, 1);
    pthread_mutex_unlock(&lock);
    *out = memory;
    return cudaSuccess;
}

struct graph_memory *graph_memory_find(const void *ptr)
{
    struct graph_memory *memory;

    pthread_mutex_lock(&lock);
    memory = ptr != NULL ? memory_find(ptr) : NULL;
    if (memory != NULL)
        memory->holders++;
    pthread_mutex_unlock(&lock);
    return memory;
}

void graph_memory_hold(struct graph_memory *memory)
{
    pthread_mutex_lock(&lock);
    memory->holders++;
    pthread_mutex_unlock(&lock);
}

void graph_memory_release(struct graph_memory *memory)
{
    void *ptr;

    pthread_mutex_lock(&lock);
    memory->holders--;
    ptr = memory_end(memory);
    pthread_mutex_unlock(&lock);
    if (ptr != NULL)
        device_memory_free(ptr);
}

void *graph_memory_at(const struct graph_memory *memory)
{
    return memory->ptr;
}

size_t graph_memory_size(const struct graph_memory *memory)
{
    return memory->size;
}

unsigned graph_memory_device(const struct graph_memory *memory)
{
    return memory->device;
}

cudaError_t graph_memory_alloc(struct graph_memory *memory, bool again)
{
    cudaError_t error = cudaSuccess;

    pthread_mutex_lock(&lock);
    if (memory->ptr == NULL || (memory->used && !again))
        error = cudaErrorInvalidValue;
    else
        memory_use(memory, true);
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t graph_memory_free(struct graph_memory *memory)
{
    cudaError_t error;

    pthread_mutex_lock(&lock);
    error = memory->used ? cudaSuccess : cudaErrorInvalidValue;
    memory_use(memory, false);
    pthread_mutex_unlock(&lock);
    return error;
}

bool graph_memory_free_at(const void *ptr, cudaError_t *error)
{
    struct graph_memory *memory;
    void *rest = NULL;

    if (atomic_load_explicit(&count, memory_order_relaxed) == 0 || ptr == NULL)
        return false;
    pthread_mutex_lock(&lock);
    memory = memory_find(ptr);
    if (memory != NULL) {
        *error = memory->used ? cudaSuccess : cudaErrorInvalidValue;
        memory_use(memory, false);
        rest = memory_end(memory);
    }
    pthread_mutex_unlock(&lock);
    if (rest != NULL)
        *error = device_memory_free(rest);
    return memory != NULL;
}

struct graph_memory_figures graph_memory_figures(bool clear_used, bool clear_reserved)
{
    struct graph_memory_figures *own = &figures[device_number()], now;

    pthread_mutex_lock(&lock);
    if (clear_used)
        own->used_high = own->used;
    if (clear_reserved)
        own->reserved_high = own->reserved;
    now = *own;
    pthread_mutex_unlock(&lock);
    return now;
}

void graph_memory_forget(void)
{
    pthread_mutex_lock(&lock);
    for (struct graph_memory *memory = memories, *next; memory != NULL; memory = next) {
        next = memory->next;
        if (memory->device != device_number())
            continue;
        memory->ptr = NULL;
        memory->used = false;
        memory_end(memory);
    }
    figures[device_number()] = (struct graph_memory_figures){0, 0, 0, 0};
    pthread_mutex_unlock(&lock);
}
