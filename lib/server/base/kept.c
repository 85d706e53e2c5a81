/* kept.c - see kept.h. */
#include "server/base/kept.h"

#include <stddef.h>

static struct kept_table *table;

void kept_init(struct kept_table *memory)
{
    table = memory;
}

/* Returns the descriptor's place, where nothing is noted yet, or NULL. */
static struct kept *kept_place(int fd)
{
    if (!table || fd < 0 || (uint32_t)fd >= KEPT_MAX)
        return NULL;
    if ((uint32_t)fd >= table->end)
        table->end = (uint32_t)fd + 1;
    return &table->at[fd];
}

void kept_piece(int fd, uint64_t session_id, uint64_t address, uint64_t size)
{
    struct kept *kept = kept_place(fd);

    if (!kept)
        return;
    kept->owner = session_id;
    kept->address = address;
    kept->size = size;
    /* release: this process may be killed at any instruction, and the next one reads the rest */
    atomic_store_explicit(&kept->kind, KEPT_PIECE, memory_order_release);
}

void kept_reply(int fd, uint16_t op, uid_t uid, uint64_t token)
{
    struct kept *kept = kept_place(fd);

    if (!kept)
        return;
    kept->op = op;
    kept->uid = uid;
    kept->owner = token;
    atomic_store_explicit(&kept->kind, KEPT_REPLY, memory_order_release); /* as above */
}

void kept_forget(int fd)
{
    struct kept *kept = kept_place(fd);

    if (kept)
        atomic_store_explicit(&kept->kind, KEPT_NOTHING, memory_order_release);
}

bool kept_noted(int fd)
{
    const struct kept *kept = kept_place(fd);

    return kept && atomic_load_explicit(&kept->kind, memory_order_relaxed) != KEPT_NOTHING;
}

bool kept_noted_reply(int fd, uint64_t token)
{
    const struct kept *kept = kept_place(fd);

    return kept && atomic_load_explicit(&kept->kind, memory_order_relaxed) == KEPT_REPLY &&
           kept->owner == token;
}
