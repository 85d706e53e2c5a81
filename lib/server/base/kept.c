/* kept.c - see kept.h. */
#include "server/base/kept.h"

#include <stddef.h>

static struct kept_table *table;

void kept_init(struct kept_table *memory)
{
    table = memory;
}

/* Returns the descriptor's slot, or NULL. */
static struct kept *kept_slot(int fd)
{
    return table && fd >= 0 && (uint32_t)fd < KEPT_MAX ? &table->at[fd] : NULL;
}

static void kept_note(int fd, enum kept_kind kind, const struct kept *what)
{
    struct kept *kept = kept_slot(fd);

    if (!kept)
        return;
    if ((uint32_t)fd >= table->end)
        table->end = (uint32_t)fd + 1;
    kept->op = what->op;
    kept->uid = what->uid;
    kept->owner = what->owner;
    kept->address = what->address;
    kept->size = what->size;
    kept->loan = what->loan;
    /* release: this process may be killed at any instruction, and the next one reads the rest */
    atomic_store_explicit(&kept->kind, kind, memory_order_release);
}

void kept_piece(int fd, uint64_t session_id, const struct vault_entry *entry)
{
    kept_note(fd, KEPT_PIECE,
              &(struct kept){.owner = session_id,
                             .address = entry->address,
                             .size = entry->size,
                             .loan = entry->loan});
}

void kept_piece_lent(int fd, const struct vault_loan *loan)
{
    struct kept *kept = kept_slot(fd);

    if (!kept)
        return;
    /* While the number is 0 the other members do not count, since this process may be killed at any
     * instruction. */
    kept->loan.number = 0;
    atomic_signal_fence(memory_order_seq_cst);
    kept->loan.session_id = loan->session_id;
    kept->loan.address = loan->address;
    kept->loan.uid = loan->uid;
    kept->loan.device = loan->device;
    atomic_signal_fence(memory_order_seq_cst);
    kept->loan.number = loan->number;
}

void kept_reply(int fd, uint16_t op, uid_t uid, uint64_t token)
{
    kept_note(fd, KEPT_REPLY, &(struct kept){.op = op, .uid = uid, .owner = token});
}

void kept_remove(int fd)
{
    struct kept *kept = kept_slot(fd);

    if (kept)
        atomic_store_explicit(&kept->kind, KEPT_NOTHING, memory_order_release);
}

bool kept_noted(int fd)
{
    const struct kept *kept = kept_slot(fd);

    return kept && atomic_load_explicit(&kept->kind, memory_order_relaxed) != KEPT_NOTHING;
}

bool kept_noted_reply(int fd, uint64_t token)
{
    const struct kept *kept = kept_slot(fd);

    return kept && atomic_load_explicit(&kept->kind, memory_order_relaxed) == KEPT_REPLY &&
           kept->owner == token;
}
