/* peer_memory.c - see peer_memory.h. */
#include "server/session/peer_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/session/pieces.h"
#include "server/state/server.h"
#include "server/state/session.h"

/* ---- Importing ------------------------------------------------------------------------------- */

/* fd: stays the caller's; -1 with a refusal. */
static void answer(struct session *session, const struct link_peer_told *told, const char *text,
                   int fd)
{
    struct link_message message = {.op = LINK_PEER_IMPORTED, .slot = session->slot};

    message.u.peer_told = *told;
    message.u.peer_told.ask = session->peer.ask.ask;
    snprintf(message.text, sizeof(message.text), "%s", text);
    session->peer.ask.ask = 0;
    worker_send_with(session->device, &message, fd);
}

static void refuse(struct session *session, gs_status status, const char *text)
{
    answer(session, &(struct link_peer_told){.status = status}, text, -1);
}

/* The device that the handle names; NULL: the server has no such other device in use. */
static struct device *owner_device(const struct session *session)
{
    const uint32_t index = link_handle_device(session->peer.ask.handle);
    struct server *server = session->server;
    struct device *device = index < (uint32_t)server->device_count ? &server->device[index] : NULL;

    return device && device != session->device && device_usable(device) ? device : NULL;
}

/* Asks the owner's worker, which must have taken up all its sessions: an export of one that it has
 * not taken up is not known to it. A worker that takes the place of another is asked again. */
static void import_go_on(struct session *session)
{
    struct link_message message = {.op = LINK_PEER_EXPORT, .slot = session->slot};
    struct device *device = owner_device(session);

    if (!session_has_memory(session)) {
        session->peer.ask.ask = 0; /* its worker is gone; the next one asks again */
    } else if (session->state != SESSION_OPEN) {
        refuse(session, GS_ERR_INVALID_HANDLE, "the session ends");
    } else if (server_other(session->server, session->uid)) {
        refuse(session, GS_ERR_PERMISSION,
               "memory of another device is imported by the server's owner and root alone");
    } else if (!device) {
        refuse(session, GS_ERR_NOT_FOUND, "no export has that handle: it is of another server");
    } else if (device->worker.state == WORKER_READY && !device->resuming &&
               session->peer.asked != device->worker.child.pid) {
        session->peer.asked = device->worker.child.pid;
        message.u.peer_ask = session->peer.ask;
        worker_send(device, &message);
    }
}

bool peer_import_ask(struct session *session, const struct link_peer_ask *ask)
{
    if (ask->ask == 0)
        return false;
    session->peer = (struct peer_import){.ask = *ask};
    session->peer.ask.session_id = session->id;
    session->peer.ask.uid = session->uid;
    session->server->peer_waits = true;
    import_go_on(session);
    return true;
}

void peer_memory_go_on(struct server *server)
{
    bool waits = false;

    if (!server->peer_waits)
        return;
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));) {
        if (s->peer.ask.ask)
            import_go_on(s);
        waits = waits || s->peer.ask.ask;
    }
    server->peer_waits = waits;
}

/* Gives the importer what the owner's worker has told of, if the vault has it. */
static void import_grant(struct session *session, struct session *owner,
                         const struct link_peer_told *told)
{
    const struct vault_entry *entry = vault_find(&owner->vault, told->address, told->piece_size);
    CLEANUP_FD int fd = entry ? fcntl(entry->fd, F_DUPFD_CLOEXEC, 0) : -1;
    const char *refused = entry ? piece_refusal(session, fd)
                                : "the server has no descriptor of the memory to give another "
                                  "device";
    struct link_peer_told grant = *told;

    if (refused) {
        refuse(session, GS_ERR_LIMIT, refused);
        return;
    }
    grant.from = (uint32_t)owner->device->index;
    grant.number = entry->number;
    if (owner->pid && owner->pid == session->pid) {
        grant.window_base = owner->window_base;
        grant.window_size = owner->window_size;
    } else {
        grant.window_size = 0;
    }
    session->peer.granted = (struct vault_origin){owner->id, entry->address, entry->number};
    owner->lends = true;
    answer(session, &grant, "", fd);
}

bool peer_exported(struct device *device, const struct link_message *message)
{
    struct session *session = registry_by_slot(&device->server->registry, message->slot);
    const struct link_peer_told *told = &message->u.peer_told;
    struct session *owner;

    /* The importer may have gone meanwhile, or its worker. */
    if (!session || session->state != SESSION_OPEN || told->ask == 0 ||
        told->ask != session->peer.ask.ask || owner_device(session) != device)
        return true;
    if (told->status != GS_OK) {
        const bool known = told->status == GS_ERR_NOT_FOUND || told->status == GS_ERR_PERMISSION;

        refuse(session, known ? (gs_status)told->status : GS_ERR_PROTOCOL, message->text);
        return true;
    }
    owner = registry_by_slot(&device->server->registry, told->from);
    if (!owner || owner->device != device || !session_has_memory(owner))
        refuse(session, GS_ERR_NOT_FOUND, "no export has that handle: its owner has ended");
    else
        import_grant(session, owner, told);
    return true;
}

static void revoke_send(struct session *session, uint64_t number)
{
    struct link_message message = {.op = LINK_PEER_REVOKE, .slot = session->slot};

    message.u.vault.number = number;
    /* Else peer_imports_tell will. */
    if (session->state == SESSION_OPEN && !session->server->restoring)
        worker_send(session->device, &message);
}

/* What was taken back, or cannot be kept, before the importer's worker has said that it has it, is
 * taken back now. A supervisor may be killed over this, and the next one do it again. */
bool peer_import_keep(struct session *session, const struct link_vault *vault)
{
    const struct vault_origin *granted = &session->peer.granted;
    const struct session *owner = registry_by_id(&session->server->registry, granted->session_id);
    const struct vault_entry *entry =
        owner ? vault_find(&owner->vault, granted->address, vault->size) : NULL;
    CLEANUP_FD int fd = -1;
    bool sense = true;

    if (entry && vault->number == granted->number &&
        !vault_find(&session->vault, vault->address, vault->size)) {
        fd = fcntl(entry->fd, F_DUPFD_CLOEXEC, 0);
        sense = piece_put(session, vault, granted, &fd);
    }
    session->peer.granted = (struct vault_origin){0};
    if (!vault_find(&session->vault, vault->address, vault->size))
        revoke_send(session, vault->number);
    return sense;
}

/* ---- Taking back ----------------------------------------------------------------------------- */

/* Whether it is what the owner lends from that address; NULL: anything that it lends. */
static bool is_lent(const struct vault_origin *origin, const struct session *owner,
                    const uint64_t *address)
{
    return origin->number && origin->session_id == owner->id &&
           (!address || origin->address == *address);
}

static void take_back_from(struct session *session, const struct session *owner,
                           const uint64_t *address)
{
    if (is_lent(&session->peer.granted, owner, address))
        session->peer.granted = (struct vault_origin){0};
    for (uint32_t i = 0; session->vault.borrowed && i < session->vault.count; i++) {
        struct vault_entry *entry = &session->vault.entry[i];

        if (!is_lent(&entry->origin, owner, address))
            continue;
        vault_taken_back(entry);
        revoke_send(session, entry->origin.number);
    }
}

static void take_back(struct session *owner, const uint64_t *address)
{
    if (!owner->lends)
        return;
    for (struct session *s = NULL; (s = registry_next(&owner->server->registry, s));)
        take_back_from(s, owner, address);
}

void peer_memory_revoke(struct session *owner, uint64_t address)
{
    take_back(owner, &address);
}

void peer_memory_end(struct session *owner)
{
    take_back(owner, NULL);
    owner->lends = false;
}

void peer_imports_tell(struct session *session)
{
    for (uint32_t i = 0; session->vault.borrowed && i < session->vault.count; i++) {
        struct vault_entry *entry = &session->vault.entry[i];
        const struct session *owner =
            registry_by_id(&session->server->registry, entry->origin.session_id);

        if (!entry->origin.number)
            continue;
        if (!owner || owner->state == SESSION_LOST)
            vault_taken_back(entry);
        if (!entry->origin.session_id)
            revoke_send(session, entry->origin.number);
    }
}

void peer_memory_restore(struct server *server)
{
    server->restoring = false;
    server->peer_waits = true;
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));) {
        s->peer.asked = 0;
        if (s->state == SESSION_OPEN)
            peer_imports_tell(s);
    }
}
