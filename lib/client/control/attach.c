/* attach.c - see attach.h. */
#include "client/control/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>

#include "client/base/env.h"
#include "client/base/error.h"
#include "client/base/params.h"
#include "client/control/qos.h"
#include "client/control/session_make.h"
#include "common/util.h"

#define TIMEOUT_DEFAULT_MS 10000u
#define DETACH_LOOK_NS     20000000u /* the longest sleep without a check that the server lives */

/* ---- What is asked for ---- */

static gs_status params_check(const gs_attach_params *params)
{
    if (params->device < GS_DEVICE_AUTO)
        return error_set(GS_ERR_INVALID_VALUE,
                         "device is %d, not a number from 0 or "
                         "GS_DEVICE_AUTO (%d)",
                         params->device, GS_DEVICE_AUTO);
    if (params->on_fault != GS_ON_FAULT_INTERRUPT && params->on_fault != GS_ON_FAULT_REPLAY)
        return error_set(GS_ERR_INVALID_VALUE, "on_fault is %d, not %d or %d",
                         (int)params->on_fault, GS_ON_FAULT_INTERRUPT, GS_ON_FAULT_REPLAY);
    if ((int)params->fence < GS_FENCE_AUTO || params->fence > GS_FENCE_STRICT)
        return error_set(GS_ERR_INVALID_VALUE, "fence is %d, not %d to %d", (int)params->fence,
                         GS_FENCE_AUTO, GS_FENCE_STRICT);
    if (params->reservation &&
        strlen(params->reservation) >= sizeof(((struct ctl_attach *)0)->reservation))
        return error_set(
            GS_ERR_INVALID_VALUE, "reservation is a name of %zu bytes; it has at most %zu",
            strlen(params->reservation), sizeof(((struct ctl_attach *)0)->reservation) - 1);
    return GS_OK;
}

gs_status attach_request_read(const gs_attach_params *given, struct attach_request *request)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_status status = GS_OK;

    if (given)
        status = params_read(&params, sizeof(params), PARAMS_UP_TO(gs_attach_params, instance),
                             given, "gs_attach_params");
    if (status == GS_OK)
        status = env_reservation(&params.reservation, &params.device);
    if (status == GS_OK)
        status = params_check(&params);
    if (status == GS_OK)
        status = env_fence(&params.fence);
    *request = (struct attach_request){
        .instance = env_instance(params.instance),
        .name = params.name ? params.name : program_invocation_short_name,
        .device = params.device,
        .on_fault = params.on_fault,
        .fence = params.fence,
        .kernel_heap = params.kernel_heap,
        .timeout_ns =
            UINT64_C(1000000) * (params.timeout_ms ? params.timeout_ms : TIMEOUT_DEFAULT_MS),
        .qos = GS_QOS_INIT,
        .reservation = params.reservation ? params.reservation : "",
        .env = ENV_NO_LIMITS,
    };
    if (status == GS_OK)
        status = qos_read(&request->qos, params.qos);
    if (status != GS_OK)
        return status;
    if (params.device == GS_DEVICE_AUTO)
        status = env_local_rank(&request->local_rank);
    if (status != GS_OK)
        return status;
    request->env.mem_limit = params.mem_limit;
    status = env_apply(params.device, &request->env);
    request->mem_limit = request->env.mem_limit;
    request->env.mem_lowered = request->mem_limit != params.mem_limit;
    qos_lower(&request->qos, &request->env);
    return status;
}

/* ---- Attaching ---- */

static void message_fill(struct ctl_attach *message, const struct attach_request *request)
{
    *message = (struct ctl_attach){
        .client_version = GS_VERSION,
        .device = request->device,
        .on_fault = (uint32_t)request->on_fault,
        .fence = (uint32_t)request->fence,
        .local_rank = request->local_rank,
        .mem_limit = request->mem_limit,
        .kernel_heap = request->kernel_heap,
        .qos = qos_wire(&request->qos),
        .patience_ms = (uint32_t)(request->timeout_ns / 1000000),
    };
    message->qos.environment = qos_environment(&message->qos, &request->env, 0);
    snprintf(message->name, sizeof(message->name), "%s", request->name);
    snprintf(message->reservation, sizeof(message->reservation), "%s", request->reservation);
}

/* An access beyond the end of a segment would kill this process, so its size is checked. */
static gs_status segment_check(int id, size_t least, const char *what)
{
    struct shmid_ds about;

    if (shmctl(id, IPC_STAT, &about))
        return error_system("shmctl(IPC_STAT)");
    if (about.shm_segsz < least)
        return error_set(GS_ERR_PROTOCOL, "the server's %s has %zu bytes, not %zu", what,
                         about.shm_segsz, least);
    return GS_OK;
}

static gs_status segments_map(struct session *session, const struct ctl_attach_reply *reply)
{
    void *segment, *page;
    gs_status status = session_map(session, MAPPED_SEGMENT, reply->segment_id, 0, 0,
                                   "shmat of the session segment", &segment);

    if (status == GS_OK)
        status = segment_check(reply->segment_id, SEG_SIZE, "session segment");
    if (status == GS_OK)
        status = session_map(session, MAPPED_PAGE, reply->status_page_id, 0, SHM_RDONLY,
                             "shmat of the status page", &page);
    if (status == GS_OK)
        status = segment_check(reply->status_page_id, sizeof(struct status_page), "status page");
    if (status != GS_OK)
        return status;
    session->segment = segment;
    session->page = page;
    session->client = (struct seg_client *)(session->segment + SEG_OFF_CLIENT);
    session->complete = (struct seg_complete *)(session->segment + SEG_OFF_COMPLETE);
    session->server_page = (struct seg_server *)(session->segment + SEG_OFF_SERVER);
    session->request = (struct seg_request *)(session->segment + SEG_OFF_REQUEST);
    return GS_OK;
}

static gs_status segments_read(struct session *session, const struct ctl_attach_reply *reply)
{
    const struct seg_info *info = (const struct seg_info *)(session->segment + SEG_OFF_INFO);

    /* The state is read first, because the server wrote the info before the state. */
    if (!session_alive(session))
        return session_trouble(session);
    if (info->magic != WIRE_MAGIC || info->version != WIRE_VERSION ||
        info->session_id != reply->session_id || session->page->magic != WIRE_MAGIC)
        return error_set(GS_ERR_PROTOCOL, "segment %d is not that of session %llu",
                         reply->segment_id, (unsigned long long)reply->session_id);
    session->info = *info;
    session->info.device_name[sizeof(info->device_name) - 1] = '\0';
    session->info.device_uuid[sizeof(info->device_uuid) - 1] = '\0';
    session->info.bell[sizeof(info->bell) - 1] = '\0';
    session_reserve_window(session);
    session->stream[0].ring = session->segment + SEG_OFF_RINGS;
    atomic_store_explicit(&session->stream[0].generation, session->generation,
                          memory_order_relaxed);
    return GS_OK;
}

static gs_status bell_open(struct session *session)
{
    char text[WIRE_NAME_MAX + 32];

    session->bell = mq_open(session->info.bell, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (session->bell >= 0)
        return GS_OK;
    snprintf(text, sizeof(text), "mq_open of the doorbell %s", session->info.bell);
    return error_system(text);
}

/* Maps the granted segments and sends CTL_CONFIRM, after which the kernel can tell the server this
 * process's pid. */
static gs_status grant_take(struct session *session, const struct ctl_attach_reply *reply,
                            uint64_t deadline)
{
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_header confirm;
    gs_status status = segments_map(session, reply);

    if (status == GS_OK)
        status = segments_read(session, reply);
    if (status == GS_OK)
        status = bell_open(session);
    if (status != GS_OK)
        return status;
    status = control_send(&session->control, &confirm, CTL_CONFIRM, sizeof(confirm),
                          session->cookie, deadline, message);
    return status == GS_OK ? GS_OK : error_server(status, message);
}

/* Gives back a granted session that this process cannot use. A failure to send does not matter,
 * because the server notices the loss by itself, only later. */
static void grant_return(const struct session *session, uint64_t deadline)
{
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_header detach;

    control_send(&session->control, &detach, CTL_DETACH, sizeof(detach), session->cookie, deadline,
                 message);
}

static gs_status grant_ask(struct session *session, const struct attach_request *request,
                           struct ctl_attach_reply *reply, uint64_t deadline)
{
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_attach attach;
    gs_status status = control_open(&session->control, request->instance, message);

    message_fill(&attach, request);
    if (status == GS_OK)
        status = control_ask(&session->control, &attach.h, CTL_ATTACH, sizeof(attach), reply,
                             sizeof(*reply), deadline, message);
    /* A timeout before the deadline is the server's own refusal, with its message. */
    if (status == GS_ERR_TIMEOUT && clock_ns() >= deadline)
        return error_set(GS_ERR_TIMEOUT,
                         "the gshare server '%s' did not answer within %llu ms: it is stopped, or "
                         "has no processor",
                         request->instance, (unsigned long long)(request->timeout_ns / 1000000));
    return status == GS_OK ? GS_OK : error_server(status, message);
}

/* Lowers a count or mask of SMs to the environment's percentage, now that the device is known. */
static gs_status percentage_lower(struct session *session, const gs_qos *asked)
{
    gs_qos qos = *asked;

    return qos_lower_on_device(session, &qos) ? qos_ask(session, &qos) : GS_OK;
}

gs_status attach_session(const struct attach_request *request, struct session **session)
{
    uint64_t deadline = clock_ns() + request->timeout_ns;
    struct ctl_attach_reply reply;
    struct session *made;
    gs_status status = session_new(&made);

    if (status != GS_OK)
        return status;
    made->timeout_ns = request->timeout_ns;
    made->env = request->env;
    made->local_rank = request->local_rank ? request->local_rank - 1 : 0;
    status = grant_ask(made, request, &reply, deadline);
    if (status == GS_OK) {
        made->cookie = reply.cookie;
        status = grant_take(made, &reply, deadline);
        /* A reservation is on one device. */
        made->device_count = *request->reservation ? 1 : made->info.device_count;
        if (status == GS_OK)
            status = percentage_lower(made, &request->qos);
        /* If the server has ended, its segments are gone with it: that is the cause to report, not
         * the failed call. */
        if (status != GS_OK && !control_served(&made->control))
            status = error_set(GS_ERR_SERVER_LOST, "the gshare server '%s' has ended",
                               made->control.instance);
        else if (status != GS_OK)
            grant_return(made, deadline);
    }
    if (status != GS_OK) {
        session_free(made);
        return status;
    }
    *session = made;
    return GS_OK;
}

/* ---- Detaching ---- */

gs_status detach_session(struct session *session)
{
    uint64_t deadline = clock_ns() + session->timeout_ns;
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_header detach;
    _Atomic uint32_t *state = &session->server_page->state;
    uint32_t seen;
    gs_status status = control_send(&session->control, &detach, CTL_DETACH, sizeof(detach),
                                    session->cookie, deadline, message);

    if (status != GS_OK)
        return error_server(status, message);
    /* acquire: pairs with the server's release of SEG_CLOSED, before which it has freed all. */
    while ((seen = atomic_load_explicit(state, memory_order_acquire)) != SEG_CLOSED) {
        uint32_t owner = atomic_load_explicit(&session->page->owner, memory_order_relaxed);
        if (!owner || owner & STATUS_OWNER_DIED)
            return session_trouble(session);
        if (clock_ns() > deadline)
            return error_set(GS_ERR_TIMEOUT, "the server did not close session %llu in %llu ms",
                             (unsigned long long)session->info.session_id,
                             (unsigned long long)(session->timeout_ns / 1000000));
        futex_wait(state, seen, DETACH_LOOK_NS);
    }
    return GS_OK;
}
