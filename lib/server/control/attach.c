/*
 * attach.c - CTL_ATTACH: who is admitted, and to what. Everything in the request was written by the
 * asker; the kernel says who the asker is.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log_event.h"
#include "common/segment.h"
#include "common/util.h"
#include "server/control/control.h"
#include "server/reconcile/plan.h"
#include "server/reconcile/settle.h"
#include "server/session/close.h"
#include "server/session/events.h"
#include "server/session/liveness.h"
#include "server/session/segment.h"
#include "server/state/qos.h"

/* ---- Admission ------------------------------------------------------------------------------- */

bool user_admitted(const struct server_options *options, uid_t uid)
{
    return uid == 0 || uid == geteuid() || user_list_has(&options->served, uid);
}

static bool device_serves(const struct device *device)
{
    return device_usable(device) && !device_drained(device);
}

/* Chooses a device for a session that has named none: that of the rank, so that the ranks of a job
 * are spread evenly whatever order they come in; else the one with the fewest sessions, of those
 * that work and are not drained. */
static struct device *device_choose(struct server *server, uint32_t local_rank)
{
    struct device *best = NULL;

    if (local_rank > 0)
        best = &server->device[(local_rank - 1) % (uint32_t)server->device_count];
    if (best && device_serves(best))
        return best;
    for (int i = 0; i < server->device_count; i++) {
        struct device *device = &server->device[i];

        if (!best || (device_serves(device) && !device_serves(best)) ||
            (device_serves(device) == device_serves(best) && device->sessions < best->sessions))
            best = device;
    }
    return best;
}

/* Finds the session's reservation, which decides the device; a device that is asked for besides
 * must be the same. */
static gs_status reservation_admit(struct server *server, const struct ctl_attach *request,
                                   struct admission *admission, int32_t *device,
                                   char text[REFUSAL_TEXT_MAX])
{
    const struct reservation *reservation;
    char name[sizeof(request->reservation) + 1] = "";
    uint32_t at;

    admission->space = 0;
    *device = request->device;
    if (request->reservation[0] == 0)
        return GS_OK;
    memcpy(name, request->reservation, sizeof(request->reservation));
    at = settings_find_reservation(&server->settings, name);
    if (at == SETTINGS_RESERVATIONS_MAX || !reservation_name_valid(request->reservation))
        return refusal(text, GS_ERR_NOT_FOUND, "the operator has reserved no SMs as '%s'",
                       reservation_name_valid(request->reservation) ? name : "?");
    reservation = &server->settings.reservation[at];
    if (request->device != GS_DEVICE_AUTO && request->device != reservation->device)
        return refusal(text, GS_ERR_INVALID_VALUE, "device %d: reservation '%s' is on device %d",
                       request->device, name, reservation->device);
    if (reservation->device >= server->device_count)
        return refusal(text, GS_ERR_NO_DEVICE,
                       "reservation '%s' is on device %d: the server has %d, counted from 0", name,
                       reservation->device, server->device_count);
    admission->space = at + 1;
    *device = reservation->device;
    return GS_OK;
}

/* Copies the name without what a terminal would obey, since `gsctl ps` prints it. */
static void name_clean(char out[32], const char name[32])
{
    size_t n = strnlen(name, 31);

    memset(out, 0, 32);
    for (size_t i = 0; i < n; i++)
        out[i] = name[i] >= 0x20 && name[i] < 0x7f ? name[i] : '?';
}

/* The number of sessions that are kept for the operator: other users together may not have them. */
static uint32_t sessions_reserved(const struct server *server)
{
    return server->registry.capacity / 8 < 8 ? server->registry.capacity / 8 : 8;
}

static gs_status user_admit(const struct server *server, const struct device *device, uid_t uid,
                            char text[REFUSAL_TEXT_MAX])
{
    const struct account *account = account_find(&server->accounts, uid);
    const struct ctl_settings limit = qos_of_user(server, uid, device);
    const gs_status status = account_admit(account, text);

    if (status != GS_OK)
        return status;
    if (limit.fields & CTL_USER_SESSIONS && account && account->sessions >= limit.user_sessions)
        return refusal(text, GS_ERR_LIMIT, "user %s has %u sessions, of at most %u",
                       log_user_name(uid), account->sessions, limit.user_sessions);
    if (server_other(server, uid) &&
        server->registry.count + sessions_reserved(server) >= server->registry.capacity)
        return refusal(text, GS_ERR_LIMIT,
                       "the server has its maximum of %u tenants, %u of them kept for its operator",
                       server->registry.capacity, sessions_reserved(server));
    if (server_other(server, uid) && segments_low())
        return refusal(text, GS_ERR_LIMIT,
                       "nearly all System V segments are in use (kernel.shmmni)");
    return GS_OK;
}

gs_status attach_admit(struct server *server, uid_t uid, const struct ctl_attach *request,
                       struct admission *admission, char text[REFUSAL_TEXT_MAX])
{
    struct device *device;
    gs_status status;
    int32_t wanted;

    if (server->phase >= PHASE_DRAINING || server->end_wanted)
        return refusal(text, GS_ERR_REFUSED, "the server is ending");
    if (server->registry.count >= server->registry.capacity)
        return refusal(text, GS_ERR_LIMIT, "the server has its maximum of %u tenants",
                       server->registry.capacity);
    if (request->device < GS_DEVICE_AUTO)
        return refusal(text, GS_ERR_INVALID_VALUE, "device %d: 0 and up, or %d for any",
                       request->device, GS_DEVICE_AUTO);
    status = reservation_admit(server, request, admission, &wanted, text);
    if (status != GS_OK)
        return status;
    if (wanted != GS_DEVICE_AUTO)
        status = server_device_check(server, wanted, text);
    if (status != GS_OK)
        return status;
    device = wanted != GS_DEVICE_AUTO ? &server->device[wanted]
                                      : device_choose(server, request->local_rank);
    if (!device_usable(device))
        return refusal(text, GS_ERR_NO_DEVICE, "device %d: %.90s", device->index, device->failure);
    if (device_drained(device))
        return refusal(text, GS_ERR_REFUSED,
                       "device %d is drained: it takes new tenants after 'gsctl drain --no'",
                       device->index);
    if (request->on_fault > GS_ON_FAULT_REPLAY)
        return refusal(text, GS_ERR_INVALID_VALUE, "on_fault %u: there are 0 and 1",
                       request->on_fault);
    if (request->fence > GS_FENCE_STRICT)
        return refusal(text, GS_ERR_INVALID_VALUE, "fence %u: there are 0 to %u", request->fence,
                       GS_FENCE_STRICT);
    status = qos_check(&request->qos, device, text);
    if (status != GS_OK)
        return status;
    if (admission->space && device->sms.sm_count && sm_mask_empty(&device->space[admission->space]))
        return refusal(text, GS_ERR_NO_DEVICE, "reservation '%.31s' did not fit on device %d",
                       request->reservation, device->index);

    status = user_admit(server, device, uid, text);
    if (status != GS_OK)
        return status;
    admission->device = device;
    name_clean(admission->name, request->name);
    return GS_OK;
}

/* ---- The segment ----------------------------------------------------------------------------- */

static gs_status segment_refusal(int error, char text[REFUSAL_TEXT_MAX])
{
    if (error == -ENOSPC)
        return refusal(text, GS_ERR_LIMIT,
                       "no System V segment of %u bytes left (kernel.shmmni, kernel.shmall)",
                       SEG_SIZE);
    if (error == -ENOMEM)
        return refusal(text, GS_ERR_NO_MEMORY, "no memory for a session segment of %u bytes",
                       SEG_SIZE);
    return refusal(text, GS_ERR_SYSTEM, "making the session segment: %s", strerror(-error));
}

/* Whether the operator trusts the user with the memory of all sessions of the device. */
static bool user_trusted(const struct server *server, uid_t uid)
{
    const struct ctl_settings set = qos_set_user(server, uid);

    return set.fields & CTL_TRUST && set.trust;
}

/* How the session's kernels are fenced into its window: as it asks, else as the server's policy
 * says. By itself the server fences all but its owner's sessions, for the owner has everything that
 * is in it, and those of trusted users. */
static uint32_t session_fenced(const struct server *server, uid_t uid, uint32_t asked)
{
    if (asked != GS_FENCE_AUTO)
        return asked;
    switch (server->options.fence) {
    case FENCE_ALWAYS:
        return GS_FENCE_ON;
    case FENCE_NEVER:
        return 0;
    default:
        return server_other(server, uid) && !user_trusted(server, uid) ? GS_FENCE_ON : 0;
    }
}

static bool any_trusted(const struct settings *settings)
{
    for (uint32_t i = 0; i < settings->user_count; i++) {
        if (settings->user[i].set.fields & CTL_TRUST && settings->user[i].set.trust)
            return true;
    }
    return false;
}

/* Tells all sessions whom the server lets in without a fence, before the next one attaches. It
 * stays: who was let in may be there still. */
static void trust_tell(struct server *server)
{
    const bool users = any_trusted(&server->settings) || any_trusted(&server->policy);
    const uint32_t now = server->options.fence == FENCE_ALWAYS  ? GS_TRUST_NOBODY
                         : server->options.fence == FENCE_NEVER ? GS_TRUST_ALL
                         : users                                ? GS_TRUST_USERS
                                                                : GS_TRUST_OWNER;
    _Atomic uint32_t *told = &server->status.page->trusts;

    if (now > atomic_load_explicit(told, memory_order_relaxed))
        atomic_store_explicit(told, now, memory_order_relaxed);
}

/* ---- The session ----------------------------------------------------------------------------- */

/* Takes a slot and a segment for a session of the asker. GS_OK, or the status and a text. */
static gs_status session_make(struct server *server, struct device *device, uid_t uid,
                              struct session **made, char text[REFUSAL_TEXT_MAX])
{
    struct account *account = account_get(&server->accounts, uid);
    struct session *session;
    int r;

    if (!account)
        return refusal(text, GS_ERR_LIMIT, "the server knows %u users, and has room for no more",
                       ACCOUNTS_MAX);
    session = registry_take(&server->registry);
    if (!session)
        return refusal(text, GS_ERR_SYSTEM, "getrandom: %s", strerror(errno));
    session->server = server;
    session->device = device;
    session->uid = uid;
    r = session_segment_init(session);
    if (r < 0) {
        registry_give(&server->registry, session);
        return segment_refusal(r, text);
    }
    device->sessions++;
    account->sessions++;
    session->id = ++server->sessions_total;
    session->vault.owner = session->id;
    session->attached_ns = clock_ns();
    *made = session;
    return GS_OK;
}

/* Notes what the session was admitted to, and what it asks for. */
static void session_fill(struct session *session, const struct admission *admission,
                         const struct ctl_attach *request)
{
    session->space = admission->space;
    memcpy(session->name, admission->name, sizeof(session->name));
    session->fenced = session_fenced(session->server, session->uid, request->fence);
    session->mem_asked = request->mem_limit;
    session->kernel_heap = request->kernel_heap;
    session->replays = request->on_fault == GS_ON_FAULT_REPLAY;
    session->qos = request->qos;
}

/* Watches the client of the session, which waits for its answer from now on. false: the session has
 * ended, for its client has, or the server cannot watch another one. */
static bool session_begin(struct session *session)
{
    const struct server *server = session->server;
    char text[REFUSAL_TEXT_MAX];

    if (!liveness_begin(session)) {
        log_debug("session %llu: its client has ended", (unsigned long long)session->id);
        server_session_end(session);
        return false;
    }
    if (server_descriptor_reserved(server, session->process.fd)) {
        refusal(text, GS_ERR_LIMIT, DESCRIPTORS_NONE_LEFT, server->descriptors_max);
        server_session_refuse(session, GS_ERR_LIMIT, text);
        return false;
    }
    return true;
}

void attach_handle(struct server *server, const struct ctl_attach *request, struct reply *reply)
{
    char text[REFUSAL_TEXT_MAX];
    struct admission admission;
    struct session *session = NULL;
    gs_status status = attach_admit(server, reply->uid, request, &admission, text);

    if (status == GS_OK)
        status = session_make(server, admission.device, reply->uid, &session, text);
    if (status != GS_OK) {
        name_clean(admission.name, request->name);
        attach_refused_log(server, reply, admission.name, status, text);
        reply_refuse(reply, status, "%s", text);
        return;
    }
    session_fill(session, &admission, request);
    trust_tell(server);
    session->reply = *reply; /* whoever ends the session answers */
    reply->queue = -1;
    settle_attach_by(session, request->patience_ms * UINT64_C(1000000));
    if (!session_begin(session))
        return;
    if (session->device->worker.state != WORKER_READY || session->device->early)
        return; /* its turn comes when the worker is ready, after those who came before it */
    status = plan_request(session->device, session, text);
    if (status != GS_OK)
        server_session_refuse(session, status, text);
}
