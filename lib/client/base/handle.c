/* handle.c - see handle.h. */
#include "client/base/handle.h"

#include <stdlib.h>

static _Atomic uint32_t generation_counter;

uint32_t handle_generation(void)
{
    uint32_t generation;

    do
        generation = atomic_fetch_add_explicit(&generation_counter, 1, memory_order_relaxed) + 1;
    while (generation == 0);
    return generation;
}

uint32_t handle_generation_last(void)
{
    return atomic_load_explicit(&generation_counter, memory_order_relaxed);
}

void handle_table_init(struct handle_table *table, uint32_t capacity)
{
    table->capacity = capacity;
    table->made = 0;
    table->first_free = 0;
    for (uint32_t i = 0; i < 65536u / HANDLE_CHUNK; i++)
        atomic_init(&table->chunk[i], NULL);
}

void handle_table_deinit(struct handle_table *table)
{
    for (uint32_t i = 0; i < 65536u / HANDLE_CHUNK; i++)
        free(atomic_load_explicit(&table->chunk[i], memory_order_relaxed));
}

static struct handle_entry *entry_at(struct handle_table *table, uint32_t slot)
{
    struct handle_entry *chunk;

    if (slot >= table->capacity)
        return NULL;
    /* acquire: pairs with the release in entry_new, before which the chunk was zeroed. */
    chunk = atomic_load_explicit(&table->chunk[slot / HANDLE_CHUNK], memory_order_acquire);
    return chunk ? &chunk[slot % HANDLE_CHUNK] : NULL;
}

static enum handle_insert_result entry_new(struct handle_table *table, uint32_t *slot)
{
    if (table->first_free) {
        *slot = table->first_free - 1;
        table->first_free = entry_at(table, *slot)->next_free;
        return HANDLE_INSERTED;
    }
    if (table->made == table->capacity)
        return HANDLE_FULL;
    if (!entry_at(table, table->made)) {
        struct handle_entry *chunk = calloc(HANDLE_CHUNK, sizeof(*chunk));
        if (!chunk)
            return HANDLE_NO_MEMORY;
        atomic_store_explicit(&table->chunk[table->made / HANDLE_CHUNK], chunk,
                              memory_order_release);
    }
    *slot = table->made++;
    return HANDLE_INSERTED;
}

enum handle_insert_result handle_insert(struct handle_table *table, void *object, uint32_t *slot,
                                        uint32_t *generation)
{
    uint32_t new_slot;
    enum handle_insert_result result = entry_new(table, &new_slot);
    struct handle_entry *entry;

    if (result != HANDLE_INSERTED)
        return result;
    entry = entry_at(table, new_slot);
    atomic_store_explicit(&entry->object, object, memory_order_relaxed);
    *slot = new_slot;
    *generation = handle_generation();
    /* release: pairs with the acquire in handle_lookup; the object is complete before it. */
    atomic_store_explicit(&entry->generation, *generation, memory_order_release);
    return HANDLE_INSERTED;
}

void *handle_lookup(struct handle_table *table, uint32_t slot, uint32_t generation)
{
    struct handle_entry *entry = entry_at(table, slot);

    if (!entry || !generation ||
        atomic_load_explicit(&entry->generation, memory_order_acquire) != generation)
        return NULL;
    /* The slot is not used again while a thread may be here (handle_release), so the slot still has
     * the object of that generation. */
    return atomic_load_explicit(&entry->object, memory_order_relaxed);
}

bool handle_retire(struct handle_table *table, uint32_t slot, uint32_t generation)
{
    struct handle_entry *entry = entry_at(table, slot);
    uint32_t expected = generation;

    return entry && generation &&
           atomic_compare_exchange_strong_explicit(&entry->generation, &expected, 0,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

void handle_release(struct handle_table *table, uint32_t slot)
{
    struct handle_entry *entry = entry_at(table, slot);

    atomic_store_explicit(&entry->object, NULL, memory_order_relaxed);
    entry->next_free = table->first_free;
    table->first_free = slot + 1;
}

void *handle_at(struct handle_table *table, uint32_t slot)
{
    struct handle_entry *entry = slot < table->made ? entry_at(table, slot) : NULL;

    return entry ? atomic_load_explicit(&entry->object, memory_order_relaxed) : NULL;
}
