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

    message.u.vault = (struct link_vault){chunk->address, chunk->size};
    link_send(&message, descriptor);
}

void vault_export(struct chunk *chunk)
{
    const struct session *session = chunk->holder.session;
    int descriptor = -1;
    CUresult result;

    if (journal_spoilt(session->journal))
        return;
    result = DRV(cuMemExportToShareableHandle, &descriptor, physical_handle(chunk->holder.memory),
                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (driver_fatal(result))
        device_lost(result);
    if (result) {
        char text[128];
        driver_describe(text, sizeof(text));
        log_warning("session %llu: no descriptor of its memory: %s",
                    (unsigned long long)session->id, text);
        return;
    }
    message_send(LINK_VAULT_PUT, chunk, descriptor);
    chunk->exported = true;
    close(descriptor);
}

void vault_export_remove(struct chunk *chunk)
{
    if (chunk->exported)
        message_send(LINK_VAULT_DROP, chunk, -1);
    chunk->exported = false;
}
