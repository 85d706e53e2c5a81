/* address_table.c - see address_table.h. */
#include "cudart/base/address_table.h"

#include <stdlib.h>

#define SLOTS_MIN 64u

/* The key's slot, or the free slot where it belongs. There is always a free one. */
static struct address_slot *slot_of(struct address_slots *slots, const void *key)
{
    for (size_t i = address_hash(key);; i++) {
        struct address_slot *slot = &slots->slot[i & slots->mask];
        const void *found = atomic_load_explicit(&slot->key, memory_order_relaxed);

        if (found == key || found == NULL)
            return slot;
    }
}

/* Allocates an array twice as large, without the removed keys. */
static bool table_grow(struct address_table *table)
{
    struct address_slots *former = atomic_load_explicit(&table->slots, memory_order_relaxed);
    size_t count = former ? 2 * (former->mask + 1) : SLOTS_MIN;
    struct address_slots *slots = calloc(1, sizeof(*slots) + count * sizeof(slots->slot[0]));

    if (slots == NULL)
        return false;
    slots->mask = count - 1;
    slots->former = former;
    table->used = 0;
    for (size_t i = 0; former != NULL && i <= former->mask; i++) {
        const void *key = atomic_load_explicit(&former->slot[i].key, memory_order_relaxed);
        void *value = atomic_load_explicit(&former->slot[i].value, memory_order_relaxed);

        if (key != NULL && value != NULL) {
            struct address_slot *slot = slot_of(slots, key);

            atomic_store_explicit(&slot->key, key, memory_order_relaxed);
            atomic_store_explicit(&slot->value, value, memory_order_relaxed);
            table->used++;
        }
    }
    atomic_store_explicit(&table->slots, slots, memory_order_release);
    return true;
}

bool address_table_set(struct address_table *table, const void *key, void *value)
{
    struct address_slots *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    struct address_slot *slot;

    if (slots == NULL || table->used * 2 > slots->mask) {
        if (!table_grow(table))
            return false;
        slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    }
    slot = slot_of(slots, key);
    if (atomic_load_explicit(&slot->key, memory_order_relaxed) == NULL)
        table->used++;
    atomic_store_explicit(&slot->value, value, memory_order_release);
    atomic_store_explicit(&slot->key, key, memory_order_release);
    return true;
}

void address_table_remove(struct address_table *table, const void *key, const void *value)
{
    struct address_slots *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    struct address_slot *slot = slots ? slot_of(slots, key) : NULL;

    if (slot != NULL && atomic_load_explicit(&slot->value, memory_order_relaxed) == value)
        atomic_store_explicit(&slot->value, NULL, memory_order_release);
}
