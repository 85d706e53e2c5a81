/*
 * handles.h - handles of streams, events, graphs and the like. A handle is a number that names a
 * slot and its generation, not an address, so the use of a destroyed or invalid handle is an error
 * and not a crash. The owner has a static array of slots. Any thread; lookups take no lock.
 *
 *   bits 0 to 3 the kind, 8 to 15, since 0, 1 and 2 are CUDA's own handles bits 4 to 23 the slot
 *   from bit 24 its generation, which is odd, as it is in the slot while that is in use
 */
#ifndef GS_CUDART_HANDLES_H
#define GS_CUDART_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct handle_slot {
    _Atomic uint32_t generation; /* odd: in use */
    uint32_t next_free;          /* 1 + slot number; 0: none */
};

struct handles {
    pthread_mutex_t lock;
    struct handle_slot *slot;
    uint32_t count;         /* slots in all */
    _Atomic uint32_t fresh; /* slots from here on were never used */
    uint32_t free;          /* 1 + slot number; 0: none */
    uint32_t tag;           /* the HANDLE_TAG bits of each of these handles */
};
#define HANDLE_ODD (1u << 24) /* set in every generation that is in use */
#define HANDLE_TAG (HANDLE_ODD | 15u)
#define HANDLES_INIT(slots, number, kind)                                                          \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, slots, number, 0, 0, HANDLE_ODD | (kind)                        \
    }

/* Takes a slot; its number, or -1 if all are in use. *handle is valid after handles_open. */
int handles_take(struct handles *handles, uint64_t *handle);
/* Publishes the handle; the slot's contents are written before. */
void handles_open(struct handles *handles, int number);
/* Ends a handle; the slot's number, or -1 if it has ended before. The caller owns the slot until
 * handles_free. */
int handles_close(struct handles *handles, uint64_t handle);
/* Frees a slot that was never opened, or whose handle has ended. */
void handles_free(struct handles *handles, int number);
/* The handle of a slot that is in use; 0: the slot is unused. */
uint64_t handles_of(struct handles *handles, int number);

/* The slot that a handle names, whether or not the handle is valid. */
static inline uint32_t handles_slot(uint64_t handle)
{
    return (uint32_t)(handle >> 4) & 0xfffff;
}

/* The handle's slot, or -1. An unused slot has an even generation. */
static inline int handles_find(const struct handles *handles, uint64_t handle)
{
    uint32_t number = handles_slot(handle);

    if ((handle & HANDLE_TAG) != handles->tag || number >= handles->count)
        return -1;
    /* Acquire: pairs with handles_open, for the slot's contents. */
    if (atomic_load_explicit(&handles->slot[number].generation, memory_order_acquire) !=
        (uint32_t)(handle >> 24))
        return -1;
    return (int)number;
}

#endif
