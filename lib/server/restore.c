/* restore.c - see restore.h. */
#include "server/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/names.h"
#include "common/util.h"
#include "server/base/descriptors.h"
#include "server/base/leftovers.h"
#include "server/control/control.h"
#include "server/policy_file.h"
#include "server/reconcile/changes.h"
#include "server/reconcile/reservations.h"
#include "server/reconcile/settle.h"
#include "server/session/close.h"
#include "server/session/liveness.h"
#include "server/session/peer_memory.h"
#include "server/session/pieces.h"
#include "server/session/segment.h"
#include "server/session/trace.h"
#include "server/workers/former.h"
#include "server/workers/process.h"
#include "server/workers/restart.h"
#include "server/workers/resync.h"
#include "server/workers/spawn.h"
#include "server/workers/standby.h"

/* The time in which all workers must report their sessions. Their control threads wait for nothing
 * else, and a client that asks the server meanwhile gives up after 1.9 s. */
#define RESYNC_NS 1000000000u

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* For each number up to the end of the process's table of descriptors, whether the descriptor has
 * an owner. */
struct owned {
    bool *fd;
    uint32_t count;
};

/* Notes that a descriptor has an owner. A descriptor that was closed already becomes -1. */
static void own(const struct owned *owned, int *fd)
{
    if (*fd < 0 || (uint32_t)*fd >= owned->count || fcntl(*fd, F_GETFD) < 0)
        *fd = -1;
    else
        owned->fd[*fd] = true;
}

/* Notes that a reply's descriptor has an owner. Forgets a reply that was being closed, since its
 * number may be another descriptor's by now. */
static void own_reply(const struct owned *owned, struct reply *reply)
{
    if (!descriptor_noted_reply(reply->queue, reply->token))
        reply->queue = -1;
    own(owned, &reply->queue);
}

static void own_child(const struct owned *owned, struct child *child)
{
    own(owned, &child->process.fd);
    own(owned, &child->link.fd);
}

static void own_all(const struct owned *owned, struct server_memory *memory)
{
    struct server *server = &memory->server;

    own(owned, &memory->fd);
    own(owned, &server->lock);
    own(owned, &server->control.fd);
    for (int i = 0; i < server->device_count; i++) {
        struct device *device = &server->device[i];
        int came = device->worker.inbox.op ? link_descriptor(&device->worker.inbox_control) : -1;

        own(owned, &came);
        own(owned, &device->bell_queue);
        own(owned, &device->stats_fd);
        own(owned, &device->code_fd);
        own_child(owned, &device->worker.child);
        own_child(owned, &device->standby.child);
        own_child(owned, &device->former.child);
        own_reply(owned, &device->restart.reply);
    }
    for (uint32_t i = 0; i < server->changes.count; i++)
        own_reply(owned, &server->changes.reply[i]);
    for (uint32_t i = 0; i < server->options.max_tenants; i++) {
        struct session *session = &memory->session[i];

        if (session->state == SESSION_FREE)
            continue;
        own(owned, &session->process.fd);
        own(owned, &session->journal);
        if (session->peer.loan.number)
            own(owned, &session->peer.fd);
        own_reply(owned, &session->reply);
    }
    for (uint32_t i = 0; i < memory->notes.end && i < owned->count; i++) {
        int fd = (int)i;

        if (atomic_load_explicit(&memory->notes.at[i].kind, memory_order_acquire))
            own(owned, &fd);
    }
}

/* Closes a descriptor that has no owner. Only descriptors that the supervisor has opened have
 * FD_CLOEXEC; those that the keeper has inherited do not. */
static void close_unowned(int fd, const void *with)
{
    const struct owned *owned = with;

    if ((uint32_t)fd < owned->count && !owned->fd[fd] && fcntl(fd, F_GETFD) == FD_CLOEXEC)
        close(fd);
}

/* Drops sessions that were only partly made, which have no id yet. Their clients are told to ask
 * again. */
static void sessions_drop_unmade(struct server_memory *memory)
{
    for (uint32_t i = 0; i < memory->server.options.max_tenants; i++) {
        if (memory->session[i].id == 0)
            memory->session[i].state = SESSION_FREE;
    }
}

void server_restore_begin(struct server_memory *memory)
{
    const struct owned owned = {calloc(DESCRIPTOR_NOTES_MAX, sizeof(bool)), DESCRIPTOR_NOTES_MAX};

    if (!owned.fd) {
        server_fail(&memory->server, "no memory to take another supervisor's place");
        return;
    }
    descriptor_notes_init(&memory->notes);
    memory->server.committed = &memory->committed;
    server_rollback(&memory->server); /* before the state file is written */
    sessions_drop_unmade(memory);
    own_all(&owned, memory);
    descriptors_visit(close_unowned, &owned);
    free(owned.fd);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static void session_restore(struct session *session)
{
    struct server *server = session->server;
    struct account *account = account_get(&server->accounts, session->uid);
    int r;

    session->answer_by = session->confirm_by = session->evict_by = (struct timer){0};
    session->vault = (struct vault){.owner = session->id};
    /* A client whose request was lost asks again. */
    if (session->requests.listed && session->requests.first && session->state == SESSION_OPEN)
        session->qos = session->requests.former;
    session->requests = (struct session_requests){0};
    r = session_segment_restore(session);
    if (r == -ENOMEM)
        server_fail(server, "the segment of session %llu: %s", (unsigned long long)session->id,
                    strerror(ENOMEM));
    session->device->sessions++;
    session->device->resuming += session->resuming;
    session->device->constrained += session->grant.constrained;
    if (account)
        account->sessions++;
    liveness_restore(session);
    settle_attach_restore(session);
}

static void piece_restore(struct server *server, int fd, const struct descriptor_note *note)
{
    struct session *session = registry_by_id(&server->registry, note->owner);
    struct account *account = session ? account_find(&server->accounts, session->uid) : NULL;
    const struct vault_loan loan = note->loan;

    if (!session || vault_put(&session->vault, note->address, note->size, &loan, fd) != VAULT_OK) {
        descriptor_note_remove(fd);
        close(fd);
        return;
    }
    if (account)
        account->pieces++;
    if (loan.number && !loan_restore(session, &loan, note->size))
        server_fail(server, "no memory for what sessions lend to other devices");
}

/* Restores the import of another device's memory that the session's worker was given, and that it
 * may have mapped by now. */
static void granted_restore(struct session *session)
{
    struct peer_import *peer = &session->peer;

    if (peer->fd < 0 || descriptor_noted(peer->fd)) /* it was being dropped, or the vault has it */
        peer->loan.number = 0;
    if (peer->loan.number == 0)
        return;
    piece_charge(session);
    if (!loan_restore(session, &peer->loan, peer->size))
        server_fail(session->server, "no memory for what sessions lend to other devices");
}

/* Returns whether this descriptor belongs to a request that will be answered. */
static bool reply_owned(const struct server *server, int fd)
{
    for (const struct session *s = NULL; (s = registry_next(&server->registry, s));) {
        if (s->reply.queue == fd)
            return true;
    }
    for (uint32_t i = 0; i < server->changes.count; i++) {
        if (server->changes.reply[i].queue == fd)
            return true;
    }
    for (int i = 0; i < server->device_count; i++) {
        if (server->device[i].restart.reply.queue == fd)
            return true;
    }
    return false;
}

/* Restores a reply that was not answered. Sets *asked if it is the reply to the request that the
 * killed supervisor was handling. */
static void reply_restore(struct server *server, int fd, const struct descriptor_note *note,
                          bool crashed, struct reply *asked)
{
    const pid_t holder = reply_queue_holder(fd);
    struct reply reply = {fd, note->uid, note->op, note->owner, holder > 0 ? holder : 0};
    struct ctl_header *request = (struct ctl_header *)(void *)server->asked;
    const bool in_hand = request->magic && request->token == reply.token;
    char name[WIRE_NAME_MAX];

    if (reply_owned(server, fd))
        return;
    name_reply(name, geteuid(), server->options.instance, reply.token);
    mq_unlink(name);
    if (server_committed_by(server, reply.token)) {
        if (in_hand)
            request->magic = 0; /* otherwise its change would be made twice */
        changes_await(server, &reply, "");
    } else if (in_hand && crashed) {
        request->magic = 0;
        reply_refuse(&reply, GS_ERR_SYSTEM, "the server failed over this request");
    } else if (in_hand) {
        *asked = reply;
        reply.queue = -1;
    } else {
        reply.op = CTL_AGAIN;
        reply_refuse(&reply, GS_ERR_INTERRUPTED, "ask again");
    }
    reply_close(&reply);
}

static void notes_restore(struct server_memory *memory, struct reply *asked)
{
    for (uint32_t fd = 0; fd < memory->notes.end; fd++) {
        const struct descriptor_note *at = &memory->notes.at[fd];

        switch (atomic_load_explicit(&at->kind, memory_order_relaxed)) {
        case NOTED_PIECE:
            piece_restore(&memory->server, (int)fd, at);
            break;
        case NOTED_REPLY:
            reply_restore(&memory->server, (int)fd, at, memory->crashed, asked);
            break;
        default:
            break;
        }
    }
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* Restores the device without its sessions, which are counted as they are restored. */
static void device_restore(struct device *device)
{
    int r = worker_stats_restore(device);

    if (r < 0)
        server_fail(device->server, "the figures of device %d: %s", device->index, strerror(-r));
    device->timer = device->heartbeat = device->plan_soon = device->grant_retry = (struct timer){0};
    restart_restore(device);
    device->awaited = NULL;
    device->sessions = device->resuming = device->constrained = device->blocked = 0;
    segment_pool_restore(&device->segments);
    device_trace_restore(device);
    device->news = (struct loan_news){0};
}

static void workers_restore(struct device *device)
{
    former_restore(device);
    standby_restore(device);
    reservations_place(device);
    worker_restore(device);
}

/* Continues with the device's processes, once the worker has reported its sessions. */
static void workers_go_on(struct device *device, uint64_t deadline)
{
    worker_resync_end(device, deadline);
    device->early = true;
    device->policy_sent = false;
    device_plan_soon(device);
    device_due(device, DUE_POLICY | DUE_SEND | DUE_SETTLE);
}

/* Ends the sessions whose end the killed supervisor had begun, and those whose segment is gone. */
static void sessions_end_gone(struct server *server)
{
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));) {
        if (!s->segment && s->state == SESSION_WAITING) {
            s->reply.op = CTL_AGAIN;
            server_session_refuse(s, GS_ERR_INTERRUPTED, "ask again");
        } else if (s->client == CLIENT_GONE && s->state != SESSION_CLOSING) {
            server_session_close(s);
        }
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

void server_restore(struct server_memory *memory)
{
    struct server *server = &memory->server;
    const uint64_t began = clock_ns();
    const bool reading = server->reading || server->reading_again;
    struct reply asked = {.queue = -1};

    /* The message that was being handled may have crashed the supervisor, so it is dropped. */
    for (int i = 0; i < server->device_count && memory->crashed; i++) {
        if (server->device[i].worker.inbox.op == LINK_FATAL)
            server->device[i].worker.inbox.op = 0;
    }
    server->restoring = true;
    server->sweep = server->drain = server->peers_soon = (struct timer){0};
    server->loans = (struct loans){0};
    reaper_restore(&server->reaper);
    server->sessions_polled = 0;
    server->reading = NULL;
    server->reading_again = false;
    changes_restore(server);
    accounts_restore(&server->accounts);
    for (int i = 0; i < server->device_count; i++)
        device_restore(&server->device[i]);
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));)
        session_restore(s);
    leftover_segments_remove();
    notes_restore(memory, &asked);
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));)
        granted_restore(s);
    loans_restored(server);
    for (int i = 0; i < server->device_count && !server->failure[0]; i++)
        workers_restore(&server->device[i]);
    for (int i = 0; i < server->device_count && !server->failure[0]; i++)
        workers_go_on(&server->device[i], began + RESYNC_NS);
    if (server->failure[0])
        return;
    sessions_end_gone(server);
    peer_memory_restore(server);
    if (!memory->crashed)
        control_again(server, &asked);
    memset(server->asked, 0, sizeof(server->asked));
    if (reading)
        policy_file_reload(server);
    if (!server->failure[0])
        log_warning("event=supervisor-replaced supervisor=%d sessions=%u ms=%.1f reason=\"it has "
                    "taken the place of one that was killed\"",
                    (int)getpid(), server->registry.count, (double)(clock_ns() - began) / 1e6);
}
