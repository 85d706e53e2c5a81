/*
 * close.c - see close.h. What happens to a session, by its state:
 *
 *             its client goes, detaches   an operator kills it     its worker is lost
 *   WAITING   ends                        ends, or is LOST (1)     goes on waiting (3)
 *   OPENING   closes once it is open      closes once it is open   WAITING again (2, 3)
 *   OPEN      CLOSING                     CLOSING, `killed`        WAITING again (2), or LOST
 *   CLOSING   no longer `killed`          its grace is cut short   ends, or is LOST if `killed`
 *   LOST      ends                        (nothing)                (nothing)
 *
 * (1) if it was open before; (2) unless workers were lost over it too often; (3) unless its user
 * lost the worker while it was kept out.
 *
 * CLOSING ends with the worker's LINK_CLOSED; when its grace is over, the worker is asked to evict
 * it. A session that is LOST has only its segment, where its client reads the reason, and ends when
 * that client goes.
 */
#include "server/session/close.h"

#include <stdio.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/link/preload.h"
#include "server/link/worker_link.h"
#include "server/session/events.h"
#include "server/session/peer_memory.h"
#include "server/session/qos_requests.h"
#include "server/session/segment.h"
#include "server/session/trace.h"
#include "server/state/server.h"

/* The most attempts to open a session or to take it up, if the worker is lost each time. */
#define ATTEMPTS_MAX 3u
/* The most times within LOSSES_NS that a session's unfinished work runs again after a loss for
 * which nobody is to blame. After that it ends, because it may be what loses the device. */
#define LOSSES_MAX   3u
#define LOSSES_NS    60000000000u
#define AGAIN_MS     100u /* time until the worker is asked again to evict a session */

/* ---- What ends with a session ---------------------------------------------------------------- */

void server_session_unwatch(struct session *session)
{
    struct server *server = session->server;
    int fd = session->process.fd;

    timer_cancel(&server->loop, &session->confirm_by);
    watch_remove(&server->loop, &session->process);
    if (fd >= 0)
        close(fd);
    if (session->client == CLIENT_POLLED)
        server->sessions_polled--;
    if (session->client != CLIENT_UNCONFIRMED)
        session->client = CLIENT_GONE;
}

static void journal_close(struct session *session)
{
    if (session->journal >= 0)
        close(session->journal);
    session->journal = -1;
}

void server_session_end(struct session *session)
{
    struct server *server = session->server;
    struct account *account;

    session_detached_log(session);
    preload_gone(session, 0);
    timer_cancel(&server->loop, &session->answer_by);
    timer_cancel(&server->loop, &session->evict_by);
    server_session_unwatch(session);
    qos_requests_refuse_all(session, GS_ERR_INVALID_HANDLE, "the session has ended");
    grants_clear(session);
    reply_close(&session->reply);
    peer_memory_deinit(session);
    journal_close(session);
    server_session_resume_over(session);
    session_segment_deinit(session);
    session->device->sessions--;
    account = account_find(&server->accounts, session->uid);
    if (account && account->sessions)
        account->sessions--;
    registry_give(&server->registry, session);
}

void server_session_resume_over(struct session *session)
{
    const struct link_message resumed = {.op = LINK_RESUMED, .slot = LINK_SLOT_NONE};
    struct device *device = session->device;

    if (!session->resuming)
        return;
    session->resuming = false;
    if (--device->resuming)
        return;
    if (device->worker.state == WORKER_READY) {
        worker_send(device, &resumed);
        device_trace_taken_over(device);
        log_info("event=takeover device=%d worker=%d ms=%.1f", device->index,
                 (int)device->worker.child.pid, (double)(clock_ns() - device->lost_ns) / 1e6);
    }
    device_due(device, DUE_SEND); /* attaches may have waited for this session's end */
}

/* ---- Refused, or lost with the worker -------------------------------------------------------- */

/* Makes a session LOST: it has no worker any more, and none will take it up. */
static void session_lost(struct session *session, const struct link_fatal *fatal, const char *why)
{
    session_segment_fault(session, fatal, why);
    qos_requests_refuse_all(session, GS_ERR_INTERRUPTED, "the device was lost");
    grants_clear(session);
    peer_memory_deinit(session);
    journal_close(session);
    server_session_resume_over(session);
    session->state = SESSION_LOST;
    session->attached_base = 1; /* the supervisor's */
}

/* Ends a session that the next worker could not take up, and tells its client so. */
static void session_not_resumed(struct session *session, const char *text)
{
    const struct device *device = session->device;
    char why[ERROR_TEXT_MAX + REFUSAL_TEXT_MAX];
    struct log_event event = log_event_begin("session-lost");
    struct seg_fault verdict;

    snprintf(why, sizeof(why), "%s; %s%s", device->failure, text,
             session->replays && session->replay == LINK_REPLAY_NOT
                 ? ", and has run again often enough"
                 : "");
    verdict = session_verdict(session, NULL, why);
    event_session(&event, session);
    log_event_fault(&event, &verdict);
    log_event_text(&event, "reason", why);
    log_event_write(&event, LOG_LEVEL_INFO);
    session_lost(session, NULL, why);
}

void server_session_refuse(struct session *session, gs_status status, const char *text)
{
    if (session->resuming) { /* its attach was answered before the worker was lost */
        const bool gone = session->close_wanted;

        session_not_resumed(session, text);
        if (gone)
            server_session_end(session);
        return;
    }
    session_refused_log(session, status, text);
    reply_refuse(&session->reply, status, "%s", text);
    server_session_end(session);
}

/* ---- Closing --------------------------------------------------------------------------------- */

static void evict_after(struct session *session, uint32_t grace_ms);

static void evict_fire(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, evict_by);
    struct link_message message = {.op = LINK_EVICT, .slot = session->slot};
    struct device *device = session->device;

    if (session->state != SESSION_CLOSING)
        return;
    snprintf(message.text, sizeof(message.text), "%s, and after %u ms its kernels ran on",
             session->killed ? "the operator has ended the session" : "its tenant has gone",
             session->grace_ms);
    worker_send(device, &message);
    /* A stopped worker evicts no session, so the session ends when the worker is ended
     * (heartbeat.h). */
    if (device_silent(device, HUNG_NS))
        device->worker.overdue = session->id;
    worker_ping(device);
    /* The worker may have to wait for something else first. */
    evict_after(session, AGAIN_MS);
}

static void evict_after(struct session *session, uint32_t grace_ms)
{
    timer_set(&session->server->loop, &session->evict_by, clock_ns() + grace_ms * UINT64_C(1000000),
              evict_fire);
}

/* Sends LINK_CLOSE: the worker takes no more of the session's work, and frees what the session
 * holds once the device has finished its work. */
static void session_close_begin(struct session *session)
{
    struct link_message message = {.op = LINK_CLOSE, .slot = session->slot};

    qos_requests_refuse_all(session, GS_ERR_INVALID_HANDLE, "the session is ending");
    peer_import_refuse(session);
    session->state = SESSION_CLOSING;
    worker_send(session->device, &message);
}

void server_session_close_again(struct session *session, bool asked)
{
    if (!asked)
        session_close_begin(session);
    if (session->grace_ms)
        evict_after(session, session->grace_ms);
}

void server_session_kill(struct session *session, uint32_t grace_ms)
{
    static const char text[] = "the operator has ended the session";
    const struct timer *by = &session->evict_by;

    if (grace_ms == 0)
        grace_ms = 1; /* 0 in the session: no limit */
    switch (session->state) {
    case SESSION_OPEN:
        session_segment_end(session, text);
        session->killed = session->by_operator = true;
        session->grace_ms = grace_ms;
        session_close_begin(session);
        worker_ping(session->device); /* by the end of the grace it is known whether the worker
                                         answers */
        evict_after(session, grace_ms);
        break;
    case SESSION_OPENING:
        if (!session->resuming) {
            attach_refused_count(session->server, GS_ERR_REFUSED);
            reply_refuse(&session->reply, GS_ERR_REFUSED, "%s", text);
        }
        reply_close(&session->reply);
        session_segment_end(session, text);
        session->close_wanted = true;
        break;
    case SESSION_CLOSING:
        session->by_operator = true;
        worker_ping(session->device);
        if (by->due_ns && by->due_ns <= clock_ns() + grace_ms * UINT64_C(1000000))
            break;
        session->grace_ms = grace_ms;
        evict_after(session, grace_ms);
        break;
    case SESSION_WAITING:
        server_session_refuse(session, GS_ERR_REFUSED, text);
        break;
    default:
        break;
    }
}

void server_session_close(struct session *session)
{
    const uint32_t grace_ms = session->server->options.grace_ms;

    switch (session->state) {
    case SESSION_OPENING:
        session->close_wanted = true;
        break;
    case SESSION_OPEN:
        server_session_unwatch(session);
        session->grace_ms = grace_ms;
        session_close_begin(session);
        if (grace_ms)
            evict_after(session, grace_ms);
        break;
    case SESSION_WAITING:
    case SESSION_LOST:
        server_session_end(session);
        break;
    case SESSION_CLOSING:
        server_session_unwatch(session);
        session->killed = false; /* no client is left to read why the session ended */
        break;
    case SESSION_FREE:
        break;
    }
}

/* Makes a killed session, which the worker has freed, LOST. It stays until its client goes, which
 * can read why it ended. */
static void session_killed(struct session *session)
{
    timer_cancel(&session->server->loop, &session->evict_by);
    session_lost(session, NULL, "");
    session->killed = false;
    session->segment_kept = SEGMENT_NOT_KEPT;
}

bool server_session_closed(struct session *session)
{
    struct device *device = session->device;
    const int segment = session->segment_id;

    if (session->state != SESSION_CLOSING)
        return false;
    session->segment_kept = SEGMENT_KEPT;
    if (session->killed) {
        session_killed(session);
        session_segment_drop(device, segment);
    } else {
        server_session_end(session);
    }
    return true;
}

/* ---- The worker is lost ---------------------------------------------------------------------- */

static enum link_replay replay_wanted(struct session *session)
{
    const uint64_t now = clock_ns();

    if (!session->replays)
        return LINK_REPLAY_NOT;
    /* A replaced worker leaves no unfinished work. */
    if (device_culprit(session->device) || session->device->restart.phase == RESTART_NEXT)
        return LINK_REPLAY;
    if (now - session->losses_ns > LOSSES_NS) {
        session->losses = 0;
        session->losses_ns = now;
    }
    return ++session->losses <= LOSSES_MAX ? LINK_REPLAY_ALONE : LINK_REPLAY_NOT;
}

/* Makes an open session wait for the next worker to take it up. */
static void session_wait(struct session *session)
{
    qos_requests_keep(session);
    grants_clear(session);
    session->state = SESSION_WAITING;
    session->attached_base = 1; /* the supervisor's */
    session->missing_ns = 0;    /* observations made around the worker's end do not count */
    session->device->resuming += !session->resuming;
    session->resuming = true;
    if (session->close_wanted)
        server_session_end(session);
    else if (session->attempts++ >= ATTEMPTS_MAX)
        session_not_resumed(session, "so were the workers that were to take it up");
}

/* Makes an attach begin anew with the next worker, unless workers are lost over and over. */
static void session_open_again(struct session *session)
{
    if (session->close_wanted || session->server->phase >= PHASE_STOPPING ||
        session->attempts++ >= ATTEMPTS_MAX) {
        server_session_refuse(session, GS_ERR_NO_DEVICE, session->device->failure);
        return;
    }
    grants_clear(session);
    session->state = SESSION_WAITING;
}

/* Returns whether the session ends with its worker because of the culprit: it is the culprit, or
 * another session of a culprit's user who lost the device while kept out. */
static bool ends_for_culprit(const struct session *session)
{
    const struct culprit *culprit = &session->device->culprit;

    return culprit->session_id == session->id ||
           (culprit->kept_out && culprit->uid == session->uid);
}

/* Refuses a session that was not open yet, if an attach of its user would be refused now. Returns
 * whether it did. */
static bool refused_for_culprit(struct session *session)
{
    char text[REFUSAL_TEXT_MAX];
    gs_status status = GS_OK;

    if (ends_for_culprit(session))
        status = account_admit(account_find(&session->server->accounts, session->uid), text);
    if (status != GS_OK)
        server_session_refuse(session, status, text);
    return status != GS_OK;
}

void server_session_worker_lost(struct session *session, const struct link_fatal *fatal)
{
    session->segment_kept = SEGMENT_NOT_KEPT; /* the next worker keeps no segment yet */
    peer_import_cancel(session);
    switch (session->state) {
    case SESSION_OPENING:
        if (refused_for_culprit(session))
            break;
        if (session->resuming)
            session_wait(session);
        else
            session_open_again(session);
        break;
    case SESSION_OPEN:
        if (session->journal < 0 || ends_for_culprit(session) ||
            session->server->phase == PHASE_STOPPING || !session_segment_open(session)) {
            session_lost(session, fatal, session->device->failure);
        } else {
            session->replay = replay_wanted(session);
            session_wait(session);
        }
        break;
    case SESSION_CLOSING:
        if (session->killed)
            session_killed(session);
        else
            server_session_end(session);
        break;
    case SESSION_WAITING:
        refused_for_culprit(session);
        break;
    case SESSION_LOST:
    case SESSION_FREE:
        break;
    }
}
