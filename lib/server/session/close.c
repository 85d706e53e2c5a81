/*
 * session.c - a session's life between its client and its worker.
 *
 *   WAITING --> OPENING --> OPEN --> CLOSING --> (free)
 *                             \--> LOST -------> (free)      when the worker is gone
 *
 * Writes into the session's segment, and never reads it but to swap the state word.
 */
#include "server/state/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>

#include "common/log.h"
#include "common/names.h"
#include "common/util.h"

/* An answer has so long to reach its client, who may have to wait for a processor: a quarter of the
 * client's patience, but no more than this. */
#define ANSWER_SPARE_NS 2000000000u

static struct seg_server *segment_server(const struct session *session)
{
    return (struct seg_server *)(void *)(session->segment + SEG_OFF_SERVER);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The attach is answered now, whatever becomes of the session. */
static void answer_fire(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, answer_by);
    char text[REFUSAL_TEXT_MAX];

    grants_describe_wait(session, text);
    if (session->state == SESSION_WAITING) {
        server_session_refuse(session, GS_ERR_TIMEOUT, text);
        return;
    }
    reply_refuse(&session->reply, GS_ERR_TIMEOUT, "%s", text);
    reply_close(&session->reply);
    server_session_close(session);
}

void server_session_expect(struct session *session, uint64_t patience_ns)
{
    const uint64_t now = clock_ns();
    uint64_t spare = patience_ns / 4;

    if (patience_ns == 0)
        return;
    if (spare > ANSWER_SPARE_NS)
        spare = ANSWER_SPARE_NS;
    session->give_up_ns = now + patience_ns - spare;
    timer_set(&session->server->loop, &session->answer_by, now + patience_ns - spare / 2,
              answer_fire);
}

void server_session_open(struct session *session)
{
    struct link_message message = {.op = LINK_OPEN, .slot = session->slot};

    session->state = SESSION_OPENING;
    message.u.open = (struct link_open){.segment_id = session->segment_id,
                                        .uid = session->uid,
                                        .session_id = session->id,
                                        .give_up_ns = session->give_up_ns,
                                        .grant = session->grant.sent};
    memcpy(message.u.open.name, session->name, sizeof(message.u.open.name));
    worker_send(session->device, &message);
}

static void segment_fill(struct session *session, const struct link_opened *opened)
{
    struct seg_info *info = (struct seg_info *)(void *)(session->segment + SEG_OFF_INFO);
    const struct link_device *device = &session->device->info;

    info->magic = WIRE_MAGIC;
    info->version = WIRE_VERSION;
    info->session_id = session->id;
    info->server_pid = session->server->status.page->server_pid;
    info->device = session->device->index;
    info->device_memory = device->memory_total;
    info->mem_limit = opened->mem_limit;
    info->window_base = opened->window_base;
    info->window_size = opened->window_size;
    info->compute_major = device->compute_major;
    info->compute_minor = device->compute_minor;
    info->sm_count = device->sm_count;
    info->max_threads_per_block = device->max_threads_per_block;
    memcpy(info->max_block_dim, device->max_block_dim, sizeof(info->max_block_dim));
    memcpy(info->max_grid_dim, device->max_grid_dim, sizeof(info->max_grid_dim));
    info->max_dynamic_smem = device->max_dynamic_smem;
    info->sm_granularity = device->sm_granularity;
    info->slot = session->slot;
    memcpy(info->device_name, device->name, sizeof(info->device_name));
    memcpy(info->bell, session->device->bell, sizeof(info->bell));
    memcpy(info->sm_group, device->sm_group, sizeof(info->sm_group));
    /* Release: the info before the state; the client learns of the segment only by the reply. */
    atomic_store_explicit(&segment_server(session)->state, SEG_OPEN, memory_order_release);
}

static bool session_answer(struct session *session)
{
    struct ctl_attach_reply answer = {.status = GS_OK,
                                      .segment_id = session->segment_id,
                                      .status_page_id = session->server->status.id,
                                      .session_id = session->id,
                                      .cookie = session->cookie,
                                      .segment_size = SEG_SIZE};
    bool sent = reply_send(&session->reply, &answer.h, sizeof(answer));

    reply_close(&session->reply);
    return sent;
}

void server_session_refuse(struct session *session, gs_status status, const char *text)
{
    log_debug("session %llu of uid %u refused: %s", (unsigned long long)session->id,
              (unsigned)session->uid, text);
    reply_refuse(&session->reply, status, "%s", text);
    server_session_end(session);
}

bool server_session_opened(struct session *session, const struct link_opened *opened,
                           const char *text)
{
    struct shmid_ds ds;

    if (session->state != SESSION_OPENING)
        return false;
    timer_cancel(&session->server->loop, &session->answer_by);
    if (opened->status != GS_OK) {
        bool known = opened->status > GS_NOT_READY && opened->status <= GS_ERR_PROTOCOL;
        server_session_refuse(session, known ? (gs_status)opened->status : GS_ERR_PROTOCOL, text);
        return true;
    }
    session->state = SESSION_OPEN;
    session->mem_limit = opened->mem_limit;
    session->window_size = opened->window_size;
    grants_opened(session);
    if (session->close_wanted) { /* nobody waits for the answer */
        server_session_close(session);
        return true;
    }
    if (shmctl(session->segment_id, IPC_STAT, &ds) < 0) {
        reply_refuse(&session->reply, GS_ERR_SYSTEM, "looking at the session segment: %s",
                     strerror(errno));
        server_session_close(session);
        return true;
    }
    session->attached_base = ds.shm_nattch;
    segment_fill(session, opened);
    if (!session_answer(session)) {
        server_session_close(session);
        return true;
    }
    liveness_expect(session);
    log_debug("session %llu of uid %u (%s) is open on device %d", (unsigned long long)session->id,
              (unsigned)session->uid, session->name, session->device->index);
    return true;
}

/* As the worker does: no more than the device has, or the session has addresses for. */
void server_session_limited(struct session *session)
{
    uint64_t limit = session->grant.applied.mem_limit, total = session->device->info.memory_total;

    if (limit == 0 || limit > total)
        limit = total;
    session->mem_limit = limit < session->window_size ? limit : session->window_size;
}

/* ---- Closing --------------------------------------------------------------------------------- */

void server_session_close(struct session *session)
{
    struct link_message message = {.op = LINK_CLOSE, .slot = session->slot};

    switch (session->state) {
    case SESSION_OPENING:
        session->close_wanted = true;
        break;
    case SESSION_OPEN:
        liveness_end(session);
        qos_requests_end(session, GS_ERR_INVALID_HANDLE, "the session is ending");
        session->state = SESSION_CLOSING;
        worker_send(session->device, &message);
        break;
    case SESSION_WAITING:
    case SESSION_LOST:
        server_session_end(session);
        break;
    case SESSION_CLOSING:
    case SESSION_FREE:
        break;
    }
}

bool server_session_closed(struct session *session)
{
    if (session->state != SESSION_CLOSING)
        return false;
    server_session_end(session);
    return true;
}

bool server_session_has_memory(const struct session *session)
{
    return session->state == SESSION_OPENING || session->state == SESSION_OPEN ||
           session->state == SESSION_CLOSING;
}

void server_session_end(struct session *session)
{
    struct server *server = session->server;
    struct seg_server *shared = segment_server(session);

    log_debug("session %llu has ended", (unsigned long long)session->id);
    timer_cancel(&server->loop, &session->answer_by);
    liveness_end(session);
    qos_requests_end(session, GS_ERR_INVALID_HANDLE, "the session has ended");
    grants_forget(session);
    reply_close(&session->reply);
    vault_deinit(&session->vault);
    /* gs_detach waits for this word: what the session held is free now. */
    atomic_store_explicit(&shared->state, SEG_CLOSED, memory_order_release);
    futex_wake(&shared->state);
    shmdt(session->segment);
    session->segment = NULL;
    struct device *device = session->device;
    device->sessions--;
    registry_give(&server->registry, session);
    device_renew(device);
    server_progress(server);
}

/* ---- Loss of the worker ---------------------------------------------------------------------- */

/* The fault is written before the state that points to it; the pair is the client's acquire load. A
 * fault that the dispatcher wrote before stays. */
static void segment_fault(struct session *session, const struct link_fatal *fatal, bool blamed,
                          const char *why)
{
    struct seg_server *shared = segment_server(session);
    uint32_t open = SEG_OPEN;
    struct seg_fault fault = {.kind = GS_FAULT_DEVICE, .status = GS_ERR_INTERRUPTED};

    if (atomic_load_explicit(&shared->state, memory_order_relaxed) != SEG_OPEN)
        return;
    if (blamed) {
        bool known = fatal->status > GS_NOT_READY && fatal->status <= GS_ERR_PROTOCOL;
        fault.kind = fatal->kind <= GS_FAULT_LAUNCH ? fatal->kind : GS_FAULT_DEVICE;
        fault.status = known ? fatal->status : GS_ERR_FAULT;
        fault.stream = fatal->stream;
        fault.position = fatal->position;
        memcpy(fault.kernel, fatal->kernel, sizeof(fault.kernel));
        fault.kernel[sizeof(fault.kernel) - 1] = 0;
    }
    /* The others are not told whose kernel it was. */
    if (fault.kernel[0])
        snprintf(fault.message, sizeof(fault.message), "kernel %s: %.110s", fault.kernel, why);
    else
        snprintf(fault.message, sizeof(fault.message), "%s%.150s",
                 blamed ? "" : "the device was lost: ", why);
    shared->fault = fault;
    atomic_compare_exchange_strong_explicit(&shared->state, &open, blamed ? SEG_FAULTED : SEG_LOST,
                                            memory_order_release, memory_order_relaxed);
    futex_wake(&shared->state);
}

void server_session_worker_lost(struct session *session, const struct link_fatal *fatal,
                                bool blamed, const char *why)
{
    switch (session->state) {
    case SESSION_OPENING:
        server_session_refuse(session, GS_ERR_NO_DEVICE, why);
        break;
    case SESSION_OPEN:
        segment_fault(session, fatal, blamed, why);
        qos_requests_end(session, GS_ERR_INTERRUPTED, "the device was lost");
        grants_forget(session);
        vault_deinit(&session->vault); /* a standby would be given these */
        session->state = SESSION_LOST;
        session->attached_base = 1; /* ours */
        break;
    case SESSION_CLOSING:
        server_session_end(session);
        break;
    case SESSION_WAITING:
    case SESSION_LOST:
    case SESSION_FREE:
        break;
    }
}
