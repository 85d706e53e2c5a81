/* peer_memory.c - see peer_memory.h. */
#include "server/session/peer_memory.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/session/pieces.h"
#include "server/state/server.h"
#include "server/state/session.h"

/* The most questions and messages for a device in a round. Those that a worker's socket does not
 * take wait here, instead of in the outbox behind which other messages would wait. */
#define ASKED_EACH   64u
#define WORDS_EACH   64u
/* A device with this many pending messages about loans gets no new loan. */
#define NEWS_LONGEST 1024u

/* ---- Importing ------------------------------------------------------------------------------- */

/* Returns the device that the handle names; NULL: it is the session's own, or the server does not
 * use it. */
static struct device *owner_device(const struct session *session)
{
    const uint32_t index = link_handle_device(session->peer.ask.handle);
    struct server *server = session->server;
    struct device *device = index < (uint32_t)server->device_count ? &server->device[index] : NULL;

    return device && device != session->device && device_usable(device) ? device : NULL;
}

static uint64_t *asks_word(struct device *device, uint32_t slot)
{
    return &device->news.asks[slot / 64];
}

static void ask_enter(struct device *device, const struct session *session)
{
    *asks_word(device, session->slot) |= UINT64_C(1) << session->slot % 64;
}

void peer_import_cancel(struct session *session)
{
    struct server *server = session->server;

    for (int i = 0; session->peer.ask.ask && i < server->device_count; i++)
        *asks_word(&server->device[i], session->slot) &= ~(UINT64_C(1) << session->slot % 64);
    session->peer.ask.ask = 0;
}

/* Answers the importer's worker. The caller keeps `fd`, which is -1 in a refusal. */
static void import_answer(struct session *session, const struct link_peer_answer *answer,
                          const char *text, int fd)
{
    struct link_message message = {.op = LINK_PEER_IMPORTED, .slot = session->slot};

    message.u.peer_answer = *answer;
    message.u.peer_answer.ask = session->peer.ask.ask;
    snprintf(message.text, sizeof(message.text), "%s", text);
    peer_import_cancel(session);
    worker_send_with(session->device, &message, fd);
}

static void refuse(struct session *session, gs_status status, const char *text)
{
    import_answer(session, &(struct link_peer_answer){.status = status}, text, -1);
}

static void refuse_unknown(struct session *session)
{
    refuse(session, GS_ERR_NOT_FOUND, "no export has that handle: it is of another server");
}

void peer_import_refuse(struct session *session)
{
    if (session->peer.ask.ask)
        refuse(session, GS_ERR_INVALID_HANDLE, "the session ends");
}

bool peer_import_ask(struct session *session, const struct link_peer_ask *ask)
{
    struct device *device;

    if (ask->ask == 0)
        return false;
    peer_import_cancel(session);
    session->peer.ask = *ask;
    session->peer.ask.session_id = session->id;
    session->peer.ask.uid = session->uid;
    device = owner_device(session);
    if (session->state != SESSION_OPEN)
        peer_import_refuse(session);
    else if (!device)
        refuse_unknown(session);
    else
        ask_enter(device, session);
    return true;
}

/* Puts the owner's window into the answer if both sessions belong to one process, else 0 bytes. */
static void window_tell(const struct session *session, const struct session *owner,
                        struct link_peer_answer *answer)
{
    const bool same = owner->pid && owner->pid == session->pid;

    answer->window_base = same ? owner->window_base : 0;
    answer->window_size = same ? owner->window_size : 0;
}

bool peer_window_ask(struct session *session, const struct link_peer_ask *ask)
{
    const struct session *owner = registry_by_id(&session->server->registry, ask->session_id);
    struct link_message message = {.op = LINK_PEER_IMPORTED, .slot = session->slot};

    if (ask->ask == 0)
        return false;
    message.u.peer_answer.ask = ask->ask;
    /* A session that is being taken up gets the same window in the next worker. */
    if (owner && owner->device != session->device && (session_has_memory(owner) || owner->resuming))
        window_tell(session, owner, &message.u.peer_answer);
    worker_send(session->device, &message);
    return true;
}

/* Takes back an import that the session was given and its worker has not mapped. */
static void granted_clear(struct session *session)
{
    struct peer_import *peer = &session->peer;
    const struct vault_loan loan = peer->loan;
    const int fd = peer->fd;

    if (loan.number == 0)
        return;
    peer->loan.number = 0;
    close(fd);
    loan_entry_gone(session, &loan);
    piece_discharge(session);
}

/* Notes an import that the session is given, and takes fd over. The loan's number is stored last,
 * since the supervisor may be killed at any instruction. */
static void granted_set(struct session *session, struct loan *loan, int fd)
{
    struct peer_import *peer = &session->peer;

    granted_clear(session);
    loan_hold(loan, session->device);
    piece_charge(session);
    peer->size = loan->size;
    peer->fd = fd;
    peer->loan = loan->name;
    peer->loan.number = 0;
    atomic_signal_fence(memory_order_seq_cst);
    peer->loan.number = loan->name.number;
}

/* Gives the importer the memory that the owner's worker has named, if the vault has it. */
static void import_grant(struct session *session, struct session *owner,
                         const struct link_peer_answer *answer)
{
    const struct vault_entry *entry =
        vault_find(&owner->vault, answer->address, answer->piece_size);
    CLEANUP_FD int fd = entry ? fcntl(entry->fd, F_DUPFD_CLOEXEC, 0) : -1;
    /* The worker is not trusted: the memory that it names must be within the vault's entry. */
    const bool sound = entry && answer->size > 0 && answer->size <= answer->piece_size;
    const char *refused = sound ? piece_refusal(session, fd)
                                : "the server has no descriptor of the memory to give another "
                                  "device";
    struct loan *loan = refused ? NULL : loan_begin(owner, answer->address, answer->piece_size);
    struct link_peer_answer grant = *answer;

    if (!refused && (!loan || !vault_room(&session->vault)))
        refused = "the server has no memory for a loan";
    else if (!refused && loan->holders >= LOAN_HOLDERS_MAX)
        refused = "the memory has as many imports on other devices as it may";
    if (refused) {
        refuse(session, GS_ERR_LIMIT, refused);
        return;
    }
    grant.from = (uint32_t)owner->device->index;
    grant.number = loan->name.number;
    window_tell(session, owner, &grant);
    granted_set(session, loan, fd);
    import_answer(session, &grant, "", fd);
    fd = -1;
}

bool peer_exported(struct device *device, const struct link_message *message)
{
    struct session *session = registry_by_slot(&device->server->registry, message->slot);
    const struct link_peer_answer *answer = &message->u.peer_answer;
    struct session *owner;

    /* The importer, or its worker, may have gone meanwhile. */
    if (!session || session->state != SESSION_OPEN || answer->ask == 0 ||
        answer->ask != session->peer.ask.ask || owner_device(session) != device)
        return true;
    if (answer->status != GS_OK) {
        const bool known =
            answer->status == GS_ERR_NOT_FOUND || answer->status == GS_ERR_PERMISSION;

        refuse(session, known ? (gs_status)answer->status : GS_ERR_PROTOCOL, message->text);
        return true;
    }
    owner = registry_by_slot(&device->server->registry, answer->from);
    if (!owner || owner->device != device || !session_has_memory(owner))
        refuse(session, GS_ERR_NOT_FOUND, "no export has that handle: its owner has ended");
    else
        import_grant(session, owner, answer);
    return true;
}

/* Returns the vault's entry of the import that the worker's message names; NULL: there is none. */
static const struct vault_entry *import_kept(const struct session *session,
                                             const struct link_vault *vault)
{
    const struct vault_entry *entry = vault_find(&session->vault, vault->address, vault->size);

    return entry && entry->loan.number == vault->number ? entry : NULL;
}

/* Moves the import that the session was given into the vault, with its hold, piece and
 * descriptor. */
static bool import_put(struct session *session, const struct link_vault *vault)
{
    struct peer_import *peer = &session->peer;
    const enum vault_result result =
        vault_put(&session->vault, vault->address, vault->size, &peer->loan, peer->fd);

    if (result == VAULT_OK)
        peer->loan.number = 0;
    return result != VAULT_OVERLAP;
}

/* If the loan was revoked before the importer's worker confirmed the import, or if the worker was
 * not given it, the import is revoked now: in all sessions of the device, since the message names
 * only the loan. The vault has room (import_grant); if it has none after all, the import is revoked
 * too. This function may run twice, if a supervisor is killed during it. */
bool peer_import_keep(struct session *session, const struct link_vault *vault)
{
    const bool given = vault->number && vault->number == session->peer.loan.number;
    const struct loan *loan = loan_find(session->server, vault->number);
    bool sense = true;

    if (given && vault->size == session->peer.size)
        sense = import_put(session, vault);
    if (given)
        granted_clear(session);
    if (vault->size && (!import_kept(session, vault) || (loan && loan->slot == LINK_SLOT_NONE)))
        loan_revoke_on(session->device, vault->number);
    return sense;
}

/* ---- Taking back ----------------------------------------------------------------------------- */

void peer_imports_tell(struct session *session)
{
    granted_clear(session); /* its former worker had the import */
    for (uint32_t i = 0; i < session->vault.count; i++) {
        const struct vault_loan *name = &session->vault.entry[i]->loan;
        const struct loan *loan = name->number ? loan_find(session->server, name->number) : NULL;

        if (loan && loan->slot == LINK_SLOT_NONE)
            loan_revoke_on(session->device, name->number);
    }
}

void peer_memory_deinit(struct session *session)
{
    peer_import_cancel(session);
    granted_clear(session);
    pieces_remove_all(session);
}

/* ---- The round ------------------------------------------------------------------------------- */

/* Returns whether the worker's socket takes messages at once. */
static bool room(const struct device *device)
{
    return device->worker.outbox.count == 0;
}

/* Sends LINK_LINGERING. If the supervisor is killed before the socket takes the message, the worker
 * counts less than is noted here. */
static void lingering_send(struct device *device, uid_t uid)
{
    struct link_message message = {.op = LINK_LINGERING, .slot = LINK_SLOT_NONE};
    struct account *account = account_find(&device->server->accounts, uid);
    const uint32_t bit = 1u << device->index;

    message.u.lingering = (struct link_lingering){.uid = (uint32_t)uid};
    if (account) {
        account->lingering_due &= ~bit;
        account->lingering_sent |= bit;
        message.u.lingering.bytes = account->lingering[device->index];
    }
    worker_send(device, &message);
    if (account && !message.u.lingering.bytes && room(device))
        account->lingering_sent &= ~bit;
}

static void word_send(struct device *device, uint64_t word)
{
    struct link_message message = {.op = LINK_PEER_REVOKE, .slot = LINK_SLOT_NONE};

    message.u.vault.number = word;
    if (word & LOAN_LINGERS)
        lingering_send(device, (uid_t)word);
    else
        worker_send(device, &message);
}

static void device_ask(struct device *device, struct session *session)
{
    struct link_message message = {.op = LINK_PEER_EXPORT, .slot = session->slot};

    message.u.peer_ask = session->peer.ask;
    *asks_word(device, session->slot) &= ~(UINT64_C(1) << session->slot % 64);
    worker_send(device, &message);
}

/* Queues all questions and messages for a device that has a new worker, or whose supervisor is new.
 * Revocations that a former worker did not get are sent as its sessions are taken up. */
static void news_begin(struct device *device)
{
    struct server *server = device->server;

    device->news.worker = device->worker.child.pid;
    for (uint32_t i = 0; i < server->accounts.count; i++) {
        struct account *account = &server->accounts.entry[i];

        if (account->lingering[device->index] || account->lingering_sent >> device->index & 1)
            loan_linger_on(device, account);
    }
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));) {
        if (s->peer.ask.ask && owner_device(s) == device)
            ask_enter(device, s);
    }
}

static struct session *asker_next(const struct device *device, uint32_t from)
{
    const uint32_t slots = device->server->registry.capacity;

    for (uint32_t slot = from; slot < slots; slot++) {
        const uint64_t rest = device->news.asks[slot / 64] >> slot % 64;

        if (rest & 1)
            return registry_by_slot(&device->server->registry, slot);
        if (!rest)
            slot |= 63;
    }
    return NULL;
}

/* Refuses all imports from a device that has failed. */
static void asks_refuse(struct device *device)
{
    for (struct session *s; (s = asker_next(device, 0));)
        refuse_unknown(s);
}

/* Asks the owner's worker about imports of sessions in the slots from `from` up to `end`, at most
 * *left of them. */
static void ask_some(struct device *device, uint32_t from, uint32_t end, uint32_t *left)
{
    for (struct session *s = asker_next(device, from); s && s->slot < end && *left && room(device);
         s = asker_next(device, s->slot + 1)) {
        if (s->device->news.words.count >= NEWS_LONGEST)
            continue;
        device_ask(device, s);
        device->news.asks_next = s->slot + 1;
        --*left;
    }
}

/* Sends the device's worker its questions and messages. Returns whether there are more and the
 * worker takes them. */
static bool device_go_on(struct device *device)
{
    struct loan_news *news = &device->news;
    const uint32_t next = news->asks_next;
    uint32_t asks = ASKED_EACH;

    if (device->worker.state != WORKER_READY) {
        if (!device_usable(device))
            asks_refuse(device);
        return false;
    }
    if (news->worker != device->worker.child.pid)
        news_begin(device);
    /* The worker must have taken up all its sessions first: it does not know the exports of a
     * session that it has not, and cannot revoke imports of a session that it is taking up. */
    if (device->resuming)
        return false;
    for (uint32_t i = 0; i < WORDS_EACH && news->words.count && room(device); i++)
        word_send(device, word_queue_pop(&news->words));
    ask_some(device, next, LINK_SLOTS_MAX, &asks);
    ask_some(device, 0, next, &asks);
    return (news->words.count || !asks) && room(device);
}

/* Only wakes the loop; the round's end does the rest. */
static void soon_fire(struct timer *timer)
{
    (void)timer;
}

void peer_memory_go_on(struct server *server)
{
    bool more = false;

    for (int i = 0; i < server->device_count && !server->restoring; i++)
        more = device_go_on(&server->device[i]) || more;
    if (more && server->peers_soon.due_ns == 0)
        timer_set(&server->loop, &server->peers_soon, clock_ns(), soon_fire);
}

void peer_memory_restore(struct server *server)
{
    server->restoring = false;
    for (int i = 0; i < server->device_count; i++)
        server->device[i].news.worker = 0;
}
