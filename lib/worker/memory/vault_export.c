/* vault_export.c - see vault_export.h. */
#include "worker/memory/vault_export.h"

#include <unistd.h>

#include "common/log.h"
#include "worker/driver/lost.h"
#include "worker/driver/supervisor_link.h"
#include "worker/journal/journal.h"

static void message_send(enum link_op op, const struct chunk *chunk, int descriptor)
{
    struct link_message message = {.op = op, .slot = chunk->holder.session->slot};

    message.u.vault = (struct link_vault){.address = chunk->address, .size = chunk->size};
    link_send(&message, descriptor);
}

static void descriptor_send(struct chunk *chunk)
{
    const struct session *session = chunk->holder.session;
    int descriptor = -1;
    CUresult result;

    result = DRV(cuMemExportToShareableHandle, &descriptor, physical_handle(chunk->holder.memory),
                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    lost_check(result);
    if (result) {
        char text[128];
        driver_describe(text, sizeof(text));
        log_warning("event=vault-short session=%llu reason=\"no descriptor of its memory: %s\"",
                    (unsigned long long)session->id, text);
        return;
    }
    message_send(LINK_VAULT_PUT, chunk, descriptor);
    chunk->exported = true;
    close(descriptor);
}

void vault_export(struct chunk *chunk)
{
    if (!journal_incomplete(chunk->holder.session->journal))
        descriptor_send(chunk);
}

void vault_export_lent(struct chunk *chunk)
{
    /* An incomplete journal makes no difference, but without a journal the session is not kept, and
     * the vault has nothing of it. */
    if (!chunk->exported && chunk->holder.session->journal)
        descriptor_send(chunk);
}

/* The supervisor duplicates a descriptor that it has, because it is not known whether a driver
 * exports memory that it has itself imported by a descriptor. */
void vault_export_import(struct chunk *chunk, uint32_t from_slot, uint64_t from_address)
{
    const struct session *session = chunk->holder.session;
    struct link_message message = {.op = LINK_VAULT_SHARE, .slot = session->slot};

    if (journal_incomplete(session->journal))
        return;
    message.u.share =
        (struct link_vault_share){{chunk->address, chunk->size, 0}, from_address, from_slot};
    link_send(&message, -1);
    chunk->exported = true;
}

static void peer_send(const struct session *session, const struct link_vault *vault)
{
    struct link_message message = {.op = LINK_VAULT_PEER, .slot = session->slot};

    message.u.vault = *vault;
    link_send(&message, -1);
}

void vault_export_peer(struct chunk *chunk, uint64_t number)
{
    peer_send(chunk->holder.session, &(struct link_vault){chunk->address, chunk->size, number});
    chunk->exported = true;
}

void vault_export_peer_failed(const struct session *session, uint64_t number)
{
    peer_send(session, &(struct link_vault){.number = number});
}

void vault_export_revoke(const struct chunk *chunk)
{
    if (chunk->exported)
        message_send(LINK_REVOKE, chunk, -1);
}

void vault_export_remove(struct chunk *chunk)
{
    if (chunk->exported)
        message_send(LINK_VAULT_DROP, chunk, -1);
    chunk->exported = false;
}
