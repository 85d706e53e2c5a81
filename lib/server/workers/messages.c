/* messages.c - see messages.h. */
#include "server/workers/messages.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/log_event.h"
#include "common/size_text.h"
#include "common/util.h"
#include "server/base/child.h"
#include "server/base/descriptor_notes.h"
#include "server/base/out_of_memory.h"
#include "server/link/worker_link.h"
#include "server/reconcile/reservations.h"
#include "server/reconcile/settle.h"
#include "server/session/close.h"
#include "server/session/events.h"
#include "server/session/open.h"
#include "server/session/peer_memory.h"
#include "server/session/pieces.h"
#include "server/session/trace.h"
#include "server/state/server.h"
#include "server/state/settings_fit.h"
#include "server/workers/ending.h"
#include "server/workers/restart.h"
#include "server/workers/resync.h"
#include "server/workers/suspects.h"

/* The most messages handled before other events get their turn. */
#define LINK_BATCH   64
#define PRIORITY_MAX 1000

/* Each handler returns whether the message was valid. */

/* Returns whether the priorities are plausible: CUDA's are 0 and some numbers below it. */
static bool priorities_possible(const struct link_device *info)
{
    return info->priority_lowest <= PRIORITY_MAX && info->priority_highest >= -PRIORITY_MAX &&
           info->priority_lowest >= info->priority_highest;
}

static void ready_note(struct worker_process *worker, const struct link_device *info)
{
    if (worker->state != WORKER_STARTING || worker->child.said_ready)
        return;
    worker->child.said = *info;
    worker->child.said_ready = true;
}

/* Begins with a worker that has become ready. A next supervisor may call this again: until all is
 * done the worker has been sent nothing but LINK_BEGIN. */
static bool on_ready(struct device *device)
{
    const struct link_device *info = &device->worker.child.said;
    const struct link_message begin = {
        .op = LINK_BEGIN, .slot = LINK_SLOT_NONE, .u.resuming = device->resuming};
    struct server *server = device->server;
    char memory[SIZE_TEXT_MAX];

    if (!priorities_possible(info) || !placer_device_init(&device->sms, info))
        return false;
    timer_cancel(&server->loop, &device->timer);
    device->info = *info;
    device->info.name[sizeof(device->info.name) - 1] = 0;
    device->info.driver[sizeof(device->info.driver) - 1] = 0;
    worker_text_clean(device->info.uuid, sizeof(device->info.uuid));
    worker_text_clean(device->info.pci, sizeof(device->info.pci));
    device->info.sm_granularity = device->sms.granularity;
    device->worker.state = WORKER_READY;
    device->worker.ready_ns = clock_ns();
    device->worker.out_of_memory_kills = out_of_memory_kills();
    worker_send(device, &begin);
    device_trace_tell(device);
    log_info("event=device-ready device=%d name=%s memory=%s sms=%u driver=%s worker=%d",
             device->index, device->info.name, size_exact(memory, device->info.memory_total),
             device->info.sm_count, device->info.driver, (int)device->worker.child.pid);
    device->policy_sent = false;
    reservations_place(device);
    device_due(device, DUE_POLICY);
    if (server->phase == PHASE_STARTING)
        settings_fit_log(device);
    grants_ready(device);
    device->worker.begun = true;
    return true;
}

void worker_ready(struct device *device)
{
    if (!on_ready(device))
        worker_fail(device, NULL, LINK_SLOT_NONE, "worker %d describes a device that cannot be",
                    (int)device->worker.child.pid);
}

/* Takes a session's journal. A session without one ends with its worker. */
static void on_journal(const struct device *device, struct session *session, int *fd)
{
    if (*fd < 0 || session->journal >= 0 || session->state != SESSION_OPENING ||
        pieces_leave_none(device->server, *fd))
        return;
    session->journal = *fd;
    *fd = -1;
}

/* Handles a message about a session's memory. Such messages count even from a worker that is being
 * ended. */
static bool on_memory(struct session *session, const struct link_message *message, int *fd)
{
    switch (message->op) {
    case LINK_VAULT_PUT:
        return piece_put(session, &message->u.vault, fd);
    case LINK_VAULT_SHARE:
        return piece_share(session, &message->u.share);
    case LINK_VAULT_PEER:
        return peer_import_keep(session, &message->u.vault);
    case LINK_VAULT_DROP:
        piece_remove(session, &message->u.vault);
        return true;
    case LINK_REVOKE:
        loan_take_back(session, message->u.vault.address);
        return true;
    default:
        return false;
    }
}

/* Handles a message that notes something about a session with memory. It may be handled twice. */
static bool on_note(struct session *session, uint32_t op)
{
    switch (op) {
    case LINK_SUSPECT:
        suspect_add(session);
        return true;
    case LINK_TRIED:
        session->losses = 0;
        return true;
    case LINK_TAKEN_UP:
        server_session_taken_up(session);
        return true;
    default:
        return false;
    }
}

static bool on_session_message(struct device *device, const struct link_message *message, int *fd)
{
    struct session *session = device_session(device, message->slot);

    if (!session)
        return false;
    switch (message->op) {
    case LINK_OPENED:
        loop_expected(&device->server->loop);
        on_journal(device, session, fd);
        if (!server_session_opened(session, &message->u.opened, message->text))
            return false;
        settle_begin(session); /* requests that came while the session was taken up */
        return true;
    case LINK_CLOSED:
        return server_session_closed(session);
    case LINK_GRANTED:
        loop_expected(&device->server->loop);
        if (!grants_granted(session, &message->u.granted, message->text))
            return false;
        device_trace_session(session, TRACE_GRANTED);
        return true;
    case LINK_PEER_IMPORT:
        return session_has_memory(session) && peer_import_ask(session, &message->u.peer_ask);
    case LINK_PEER_WINDOW:
        return session_has_memory(session) && peer_window_ask(session, &message->u.peer_ask);
    default:
        return session_has_memory(session) &&
               (on_note(session, message->op) || on_memory(session, message, fd));
    }
}

static bool on_fatal(struct device *device, struct link_message *message)
{
    struct link_fatal *fatal = &message->u.fatal;

    worker_text_clean(fatal->kernel, sizeof(fatal->kernel)); /* a tenant gave the name */
    worker_fail(device, fatal, message->slot, "%s",
                message->text[0] ? message->text : "the worker gave the device up");
    return true;
}

static bool on_message(struct device *device, struct link_message *message, int *fd)
{
    switch (message->op) {
    case LINK_READY:
        if (device->worker.state != WORKER_STARTING)
            return false;
        if (message->text[0] && device->server->phase == PHASE_STARTING)
            log_warning("event=software-device device=%d reason=%s", device->index, message->text);
        ready_note(&device->worker, &message->u.device);
        return on_ready(device);
    case LINK_FATAL:
        return on_fatal(device, message);
    case LINK_RETIRED:
        return restart_retired(device, message);
    case LINK_PONG:
        return worker_pong(device, &message->u.ping);
    case LINK_NEEDS_RECYCLING:
        device->worker.needs_recycling = true;
        return device->worker.state != WORKER_STARTING;
    case LINK_SESSION:
    case LINK_RESYNCED:
        return resync_take(device, message);
    case LINK_PEER_EXPORTED:
        return peer_exported(device, message);
    default:
        return device->worker.state == WORKER_READY && on_session_message(device, message, fd);
    }
}

/* Handles a message of a worker that is being ended, and may wait to be killed. Only memory counts
 * that it has made for sessions which the next worker takes up. */
static void on_last_words(struct device *device, const struct link_message *message, int *fd)
{
    struct session *session = device_session(device, message->slot);

    if (message->op == LINK_FATAL || message->op == LINK_RETIRED)
        child_signal(&device->worker.child, SIGKILL);
    if (session && session->state == SESSION_WAITING && session->resuming)
        on_memory(session, message, fd);
}

static void inbox_clear(struct worker_process *worker)
{
    worker->inbox.op = 0;
    worker->inbox_control = (struct link_control){{0}};
}

bool worker_receive_one(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct link_message *message = &worker->inbox;
    CLEANUP_FD int descriptor = -1;
    ssize_t n = worker_read(device, message, &descriptor);

    if (n == 0)
        return false;
    if (worker->state != WORKER_STARTING && worker->state != WORKER_READY) {
        if (n == sizeof(*message))
            on_last_words(device, message, &descriptor);
    } else if (n != sizeof(*message) || !on_message(device, message, &descriptor)) {
        worker_fail(device, NULL, LINK_SLOT_NONE,
                    "worker %d sent a message that makes no sense (%zd bytes, op %u, slot %u)",
                    (int)worker->child.pid, n, message->op, message->slot);
    }
    inbox_clear(worker);
    return true;
}

/* The message may have been handled already, in part or completely. The worker reports everything
 * else once more (resync.h), and asks once more for imports from other devices, whose workers are
 * asked again. */
void worker_receive_again(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct link_message *message = &worker->inbox;
    struct session *session = device_session(device, message->slot);
    int fd = message->op ? link_descriptor(&worker->inbox_control) : -1;

    if (fd >= 0 && (descriptor_noted(fd) || (session && session->journal == fd)))
        fd = -1; /* the killed supervisor has stored it already */
    if (fd >= 0 && session && message->op == LINK_OPENED && session->journal < 0) {
        session->journal = fd;
        fd = -1;
    }
    if (session && (message->op != LINK_VAULT_PUT || fd >= 0))
        on_memory(session, message, &fd);
    if (session && session_has_memory(session))
        on_note(session, message->op);
    if (message->op == LINK_READY)
        ready_note(worker, &message->u.device);
    else if (message->op == LINK_FATAL)
        on_fatal(device, message);
    else if (message->op == LINK_RETIRED && worker->state == WORKER_READY)
        restart_retired(device, message);
    else if (message->op == LINK_NEEDS_RECYCLING)
        worker->needs_recycling = true;
    if (fd >= 0)
        close(fd);
    inbox_clear(worker);
}

void worker_receive(struct device *device)
{
    while (worker_receive_one(device))
        continue;
}

void worker_link_ready(struct watch *watch, uint32_t events)
{
    struct worker_process *worker = container_of(watch, struct worker_process, child.link);
    struct device *device = container_of(worker, struct device, worker);

    if (events & EPOLLOUT)
        worker_flush(device);
    for (int i = 0; i < LINK_BATCH && worker_receive_one(device); i++)
        continue;
}
