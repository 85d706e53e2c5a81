/* vault.c - see vault.h. */
#include "server/base/vault.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "server/base/descriptor_notes.h"

uint32_t vault_from(const struct vault *vault, uint64_t address)
{
    uint32_t low = 0, high = vault->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (vault->entry[middle]->address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool vault_room(struct vault *vault)
{
    uint32_t room = vault->room ? vault->room * 2 : 8;
    struct vault_entry **entry;

    if (!vault->spare)
        vault->spare = calloc(1, sizeof(*vault->spare));
    if (!vault->spare || vault->count < vault->room)
        return vault->spare;
    entry = reallocarray(vault->entry, room, sizeof(*entry));
    if (!entry)
        return false;
    vault->entry = entry;
    vault->room = room;
    return true;
}

/* Returns the time in nanoseconds, or the last number plus one if that is higher. So a next
 * supervisor's numbers differ from this one's. */
uint64_t vault_number(void)
{
    static uint64_t last;
    const uint64_t now = clock_ns();

    last = now > last ? now : last + 1;
    return last;
}

enum vault_result vault_put(struct vault *vault, uint64_t address, uint64_t size,
                            const struct vault_loan *loan, int fd)
{
    const struct vault_loan none = {0};
    uint32_t at = vault_from(vault, address);

    if (size == 0 || address + size < address)
        return VAULT_OVERLAP;
    if (at < vault->count && vault->entry[at]->address - address < size)
        return VAULT_OVERLAP;
    if (at > 0 && address - vault->entry[at - 1]->address < vault->entry[at - 1]->size)
        return VAULT_OVERLAP;
    if (!vault_room(vault))
        return VAULT_NO_MEMORY;
    memmove(vault->entry + at + 1, vault->entry + at,
            (vault->count - at) * sizeof(vault->entry[0]));
    vault->entry[at] = vault->spare;
    vault->spare = NULL;
    *vault->entry[at] = (struct vault_entry){.address = address,
                                             .size = size,
                                             .number = vault_number(),
                                             .loan = loan ? *loan : none,
                                             .fd = fd};
    vault->count++;
    descriptor_note_piece(fd, vault->owner, vault->entry[at]);
    return VAULT_OK;
}

const struct vault_entry *vault_at(const struct vault *vault, uint64_t address)
{
    const uint32_t at = vault_from(vault, address);

    return at < vault->count && vault->entry[at]->address == address ? vault->entry[at] : NULL;
}

const struct vault_entry *vault_find(const struct vault *vault, uint64_t address, uint64_t size)
{
    const struct vault_entry *entry = vault_at(vault, address);

    return entry && entry->size == size ? entry : NULL;
}

void vault_lend(struct vault *vault, uint64_t address, const struct vault_loan *loan)
{
    struct vault_entry *entry = vault->entry[vault_from(vault, address)];
    const struct vault_loan none = {0};

    entry->loan = loan ? *loan : none;
    descriptor_note_lent(entry->fd, &entry->loan);
}

static void entry_free(struct vault_entry *entry)
{
    descriptor_note_remove(entry->fd);
    close(entry->fd);
    free(entry);
}

bool vault_remove(struct vault *vault, uint64_t address)
{
    uint32_t at = vault_from(vault, address);

    if (at == vault->count || vault->entry[at]->address != address)
        return false;
    entry_free(vault->entry[at]);
    vault->count--;
    memmove(vault->entry + at, vault->entry + at + 1,
            (vault->count - at) * sizeof(vault->entry[0]));
    return true;
}

void vault_deinit(struct vault *vault)
{
    for (uint32_t i = 0; i < vault->count; i++)
        entry_free(vault->entry[i]);
    free(vault->entry);
    free(vault->spare);
    *vault = (struct vault){.owner = vault->owner};
}
