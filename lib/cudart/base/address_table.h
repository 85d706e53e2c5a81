/*
 * address_table.h - a hash table from a host address (a kernel's stub, a variable's shadow) to what
 * was registered for it. address_table_find takes no lock; the others are called under the owner's
 * lock. A table that grows keeps its former arrays for threads that still read them: together they
 * are smaller than the current one.
 */
#ifndef GS_CUDART_ADDRESS_TABLE_H
#define GS_CUDART_ADDRESS_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_slot {
    _Atomic(const void *) key; /* NULL: never used */
    _Atomic(void *) value;     /* set before the key; NULL: removed */
};

struct address_slots {
    size_t mask;
    struct address_slots *former;
    struct address_slot slot[];
};

struct address_table {
    _Atomic(struct address_slots *) slots;
    size_t used; /* slots with a key */
};

/* Sets the key's value. False: no memory. */
bool address_table_set(struct address_table *table, const void *key, void *value);
/* Removes the key if it has this value, so that a later registration of the same address stays. */
void address_table_remove(struct address_table *table, const void *key, const void *value);

static inline size_t address_hash(const void *key)
{
    return ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20;
}

/* The value of the key, or NULL. */
static inline void *address_table_find(struct address_table *table, const void *key)
{
    /* Acquire: the array's contents, written before address_table_set published it. */
    struct address_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);

    if (slots == NULL || key == NULL)
        return NULL;
    for (size_t i = address_hash(key);; i++) {
        struct address_slot *slot = &slots->slot[i & slots->mask];
        const void *found = atomic_load_explicit(&slot->key, memory_order_relaxed);

        if (found == key) /* acquire: the value's contents */
            return atomic_load_explicit(&slot->value, memory_order_acquire);
        if (found == NULL)
            return NULL;
    }
}

#endif
