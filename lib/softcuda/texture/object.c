// The table of arrays, textures and surfaces: see object.h. State is under `lock`, except that
// engine threads read slots without it.
#include "softcuda/texture/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "softcuda/memory/memory.h"

// A handle is the slot's number, from 1, and in the bits above it a count of the slot's uses.
enum { SLOTS = 1 << 16, SLOT_BITS = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *_Atomic slots[SLOTS];
static uint32_t uses[SLOTS];
static uint32_t next; // where to search for a free one

void object_lock(void)
{
    pthread_mutex_lock(&lock);
}

void object_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool object_add(struct object *object)
{
    bool found = false;

    object_lock();
    for (uint32_t n = 0; n < SLOTS && !found; n++, next = (next + 1) % SLOTS) {
        if (atomic_load_explicit(&slots[next], memory_order_relaxed))
            continue;
        object->handle = (uint64_t)++uses[next] << SLOT_BITS | (next + 1);
        // Release: pairs with the load in object_find, whose reader then sees a whole object.
        atomic_store_explicit(&slots[next], object, memory_order_release);
        found = true;
    }
    object_unlock();
    return found;
}

static struct object *_Atomic *slot_of(uint64_t handle)
{
    uint64_t number = handle & ((1u << SLOT_BITS) - 1);

    return number == 0 || number > SLOTS ? NULL : &slots[number - 1];
}

struct object *object_find(uint64_t handle, enum object_kind kind)
{
    struct object *_Atomic *slot = slot_of(handle);
    // Sequentially consistent, like the opening of the turn's view before it: either whoever takes
    // the object out waits for this turn, or this load finds it gone.
    struct object *found = slot ? atomic_load(slot) : NULL;

    return found && found->handle == handle && found->kind == kind ? found : NULL;
}

static void turns_wait(void)
{
    memory_lock();
    memory_wait_turns();
    memory_unlock();
}

struct object *object_take(uint64_t handle, enum object_kind kind)
{
    struct object *found;

    object_lock();
    found = object_find(handle, kind);
    if (found)
        atomic_store(slot_of(handle), NULL);
    object_unlock();
    if (found)
        turns_wait();
    return found;
}

void object_release_owner(CUcontext owner)
{
    struct object *taken = NULL;

    object_lock();
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct object *o = atomic_load_explicit(&slots[i], memory_order_relaxed);

        if (!o || o->owner != owner)
            continue;
        atomic_store(&slots[i], NULL);
        o->next = taken;
        taken = o;
    }
    object_unlock();
    if (taken)
        turns_wait();
    while (taken) {
        struct object *o = taken;

        taken = o->next;
        free(o);
    }
}
