/*
 * handles.h - handles of streams, events, graphs and the like: values that name a slot and its
 * generation, never memory, so that the use of a destroyed handle is an error and no crash. So is a
 * value that never was a handle. Slots are static in their owner, and stay. Any thread; a handle is
 * looked up without a lock.
 *
 *   bits 0 to 3    the kind, 8 to 15, since 0, 1 and 2 are CUDA's own handles
 *   bits 4 to 23   the slot
 *   from bit 24    its generation, which is odd, as it is in the slot while that is in use
 */
#ifndef GS_CUDART_HANDLES_H
#define GS_CUDART_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct handle_slot {
    _Atomic uint32_t generation; /* odd: in use */
    uint32_t next_free;          /* slot number plus 1; 0: none */
};

struct handles {
    pthread_mutex_t lock;
    struct handle_slot *slot;
    uint32_t count;         /* slots in all */
    _Atomic uint32_t fresh; /* those from here on were never used */
    uint32_t free;          /* slot number plus 1 */
    uint32_t tag;           /* what the bits of HANDLE_TAG are in each of these handles */
};
#define HANDLE_ODD (1u << 24) /* set in every generation that is in use */
#define HANDLE_TAG (HANDLE_ODD | 15u)
#define HANDLES_INIT(slots, number, kind)                                                          \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, slots, number, 0, 0, HANDLE_ODD | (kind)                        \
    }

/* Takes a slot; its number, or -1 when all are in use. *handle becomes valid with handles_open. */
int handles_take(struct handles *handles, uint64_t *handle);
/* The slot's contents are written: from now on the handle is found. */
void handles_open(struct handles *handles, int number);
/* Ends a handle; its slot's number, or -1 if it has ended before. The slot is the caller's until
 * handles_free. */
int handles_close(struct handles *handles, uint64_t handle);
/* Gives a slot back that was never opened, or whose handle has ended. */
void handles_free(struct handles *handles, int number);
/* The handle of a slot in use, 0 of one that is not. */
uint64_t handles_of(struct handles *handles, int number);

/* The slot that a handle names, whether the handle is in use or not. */
static inline uint32_t handles_slot(uint64_t handle)
{
    return (uint32_t)(handle >> 4) & 0xfffff;
}

/* The handle's slot, or -1. A slot that is not in use has an even generation. */
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
