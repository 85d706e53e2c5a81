/* descriptor_notes.c - see descriptor_notes.h. */
#include "server/base/descriptor_notes.h"

#include <stddef.h>

static struct descriptor_notes *table;

void descriptor_notes_init(struct descriptor_notes *memory)
{
    table = memory;
}

/* Returns the descriptor's slot, or NULL. */
static struct descriptor_note *note_at(int fd)
{
    return table && fd >= 0 && (uint32_t)fd < DESCRIPTOR_NOTES_MAX ? &table->at[fd] : NULL;
}

static void note_write(int fd, enum descriptor_kind kind, const struct descriptor_note *what)
{
    struct descriptor_note *note = note_at(fd);

    if (!note)
        return;
    if ((uint32_t)fd >= table->end)
        table->end = (uint32_t)fd + 1;
    note->op = what->op;
    note->uid = what->uid;
    note->owner = what->owner;
    note->address = what->address;
    note->size = what->size;
    note->loan = what->loan;
    /* release: this process may be killed at any instruction, and the next one reads the rest */
    atomic_store_explicit(&note->kind, kind, memory_order_release);
}

void descriptor_note_piece(int fd, uint64_t session_id, const struct vault_entry *entry)
{
    note_write(fd, NOTED_PIECE,
               &(struct descriptor_note){.owner = session_id,
                                         .address = entry->address,
                                         .size = entry->size,
                                         .loan = entry->loan});
}

void descriptor_note_lent(int fd, const struct vault_loan *loan)
{
    struct descriptor_note *note = note_at(fd);

    if (!note)
        return;
    /* While the number is 0 the other members do not count, since this process may be killed at any
     * instruction. */
    note->loan.number = 0;
    atomic_signal_fence(memory_order_seq_cst);
    note->loan.session_id = loan->session_id;
    note->loan.address = loan->address;
    note->loan.uid = loan->uid;
    note->loan.device = loan->device;
    atomic_signal_fence(memory_order_seq_cst);
    note->loan.number = loan->number;
}

void descriptor_note_reply(int fd, uint16_t op, uid_t uid, uint64_t token)
{
    note_write(fd, NOTED_REPLY, &(struct descriptor_note){.op = op, .uid = uid, .owner = token});
}

void descriptor_note_remove(int fd)
{
    struct descriptor_note *note = note_at(fd);

    if (note)
        atomic_store_explicit(&note->kind, NOTED_NOTHING, memory_order_release);
}

bool descriptor_noted(int fd)
{
    const struct descriptor_note *note = note_at(fd);

    return note && atomic_load_explicit(&note->kind, memory_order_relaxed) != NOTED_NOTHING;
}

bool descriptor_noted_reply(int fd, uint64_t token)
{
    const struct descriptor_note *note = note_at(fd);

    return note && atomic_load_explicit(&note->kind, memory_order_relaxed) == NOTED_REPLY &&
           note->owner == token;
}
