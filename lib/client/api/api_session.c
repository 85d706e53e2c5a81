/* api_session.c - attaching, detaching, and queries about a session. */
#include <stdio.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/params.h"
#include "client/control/attach.h"
#include "client/control/qos.h"
#include "client/control/session_make.h"
#include "client/submit/host_call.h"
#include "client/submit/sync_request.h"
#include "client/submit/wait.h"
#include "common/log.h"

static pthread_once_t log_once = PTHREAD_ONCE_INIT;

static void log_start(void)
{
    log_init("libgshare", NULL);
}

gs_status gs_attach(const gs_attach_params *params, gs_session *handle)
{
    struct attach_request request;
    struct session *session;
    gs_status status;

    if (!handle)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_session pointer is NULL");
    pthread_once(&log_once, log_start);
    status = attach_request_read(params, &request);
    if (status == GS_OK)
        status = attach_session(&request, &session);
    if (status != GS_OK)
        return status;
    /* The handle is stored before publishing, since then another thread can detach the session. */
    *handle = (gs_session)(uintptr_t)handle_encode(HANDLE_SESSION, session->index, 0,
                                                   session->generation);
    session_publish(session);
    return GS_OK;
}

/* The session ends in any case, because its handle is void. A status other than GS_OK says that
 * some of its work may be incomplete. */
gs_status gs_detach(gs_session handle)
{
    struct session *session;
    gs_status closed, status;

    if (host_call_inside())
        return error_set(GS_ERR_INVALID_VALUE, "a host function cannot detach");
    status = session_withdraw(handle_decode(handle), &session);
    if (status != GS_OK)
        return status;
    host_calls_finish(session);
    status = session_alive(session) ? wait_all(session) : session_trouble(session);
    status = fault_check(session, status);
    print_farewell(&session->printing);
    if (status != GS_ERR_SERVER_LOST) {
        char message[ERROR_MESSAGE_MAX];
        error_keep(message);
        closed = detach_session(session);
        if (status == GS_OK)
            status = closed;
        else
            error_server(status, message);
    }
    session_free(session);
    return status;
}

static void session_describe(const struct session *session, gs_session_desc *desc)
{
    const struct seg_info *info = &session->info;

    desc->session_id = info->session_id;
    desc->device = info->device;
    desc->server_pid = info->server_pid;
    snprintf(desc->instance, sizeof(desc->instance), "%s", session->control.instance);
    snprintf(desc->device_name, sizeof(desc->device_name), "%s", info->device_name);
    desc->compute_major = info->compute_major;
    desc->compute_minor = info->compute_minor;
    desc->sm_count = info->sm_count;
    desc->max_threads_per_block = info->max_threads_per_block;
    memcpy(desc->max_block_dim, info->max_block_dim, sizeof(desc->max_block_dim));
    memcpy(desc->max_grid_dim, info->max_grid_dim, sizeof(desc->max_grid_dim));
    desc->max_dynamic_smem = info->max_dynamic_smem;
    desc->max_streams = SEG_STREAMS;
    desc->device_memory = info->device_memory;
    desc->mem_limit = info->mem_limit;
    desc->window_base = info->window_base;
    desc->window_size = info->window_size;
    desc->window_reserved = session->window_reserved;
    desc->sm_granularity = info->sm_granularity;
    desc->device_count = session->device_count;
    desc->local_rank = session->local_rank;
    desc->fenced = info->fenced;
    snprintf(desc->device_uuid, sizeof(desc->device_uuid), "%s", info->device_uuid);
    /* relaxed: the word stands by itself */
    desc->trusts = atomic_load_explicit(&session->page->trusts, memory_order_relaxed);
}

gs_status gs_session_info(gs_session handle, gs_session_desc *desc)
{
    gs_session_desc read = GS_SESSION_DESC_INIT;
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    session_describe(session, &read);
    status = params_write(desc, PARAMS_UP_TO(gs_session_desc, session_id), &read, sizeof(read),
                          "gs_session_desc");
    session_leave(session);
    return status;
}

gs_status gs_device_attribute(gs_session handle, unsigned attribute, int *value)
{
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    if (attribute == 0 || attribute >= WIRE_ATTRIBUTES)
        status = error_set(GS_ERR_INVALID_VALUE, "attribute %u: there are 1 to %u", attribute,
                           WIRE_ATTRIBUTES - 1);
    else if (!value)
        status = error_set(GS_ERR_INVALID_VALUE, "value is NULL");
    else
        *value = session->info.attribute[attribute];
    session_leave(session);
    return status;
}

gs_status gs_set_qos(gs_session handle, const gs_qos *given)
{
    gs_qos qos = GS_QOS_INIT;
    struct session *session;
    gs_status status;

    if (!given)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_qos pointer is NULL");
    status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = qos_read(&qos, given);
    if (status == GS_OK) {
        qos_lower_on_device(session, &qos);
        status = qos_ask(session, &qos);
    }
    session_leave(session);
    return status;
}

gs_status gs_get_qos(gs_session handle, gs_qos *qos)
{
    struct session *session;
    struct seg_grant grant;
    gs_qos read;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = qos_granted(session, &grant);
    if (status == GS_OK) {
        qos_describe(session, &grant, &read);
        status = params_write(qos, PARAMS_UP_TO(gs_qos, priority), &read, sizeof(read), "gs_qos");
    }
    session_leave(session);
    return status;
}

gs_status gs_get_exec_affinity(gs_session handle, gs_exec_affinity *affinity)
{
    struct session *session;
    struct seg_grant grant;
    gs_qos read;
    gs_status status;

    if (!affinity)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_exec_affinity pointer is NULL");
    status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = qos_granted(session, &grant);
    if (status == GS_OK) {
        qos_describe(session, &grant, &read);
        *affinity = read.affinity;
        affinity->type = GS_EXEC_AFFINITY_SM_COUNT; /* as cuCtxGetExecAffinity does */
    }
    session_leave(session);
    return status;
}

static void fault_read(const struct session *session, gs_fault *fault)
{
    const struct seg_fault *from = &session->server_page->fault;
    /* acquire: pairs with the server's release of the state, which it stores after the fault. */
    uint32_t state = atomic_load_explicit(&session->server_page->state, memory_order_acquire);

    if (state != SEG_FAULTED && state != SEG_LOST)
        return;
    fault->kind = (gs_fault_kind)from->kind;
    fault->status = (gs_status)from->status;
    fault->stream = from->stream;
    fault->position = from->position;
    snprintf(fault->kernel, sizeof(fault->kernel), "%.*s", (int)sizeof(from->kernel), from->kernel);
    snprintf(fault->message, sizeof(fault->message), "%.*s", (int)sizeof(from->message),
             from->message);
    fault->launch = from->launch;
    fault->launch_last = from->launch + from->launch_more;
    fault->address = from->address;
    fault->lost_launches = from->lost_launches;
    fault->lost_copies = from->lost_copies;
    fault->lost_bytes = from->lost_bytes;
}

gs_status gs_last_fault(gs_session handle, gs_fault *out)
{
    gs_fault fault = GS_FAULT_INIT;
    struct session *session;
    gs_status status = session_enter(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    fault_read(session, &fault);
    status = params_write(out, PARAMS_UP_TO(gs_fault, status), &fault, sizeof(fault), "gs_fault");
    session_leave(session);
    return status;
}

gs_status gs_stray_report(gs_session handle, gs_stray *out)
{
    gs_stray stray = GS_STRAY_INIT;
    struct sync_request request = {
        .op = REQ_FAULT, .text = stray.kernel, .text_size = sizeof(stray.kernel)};
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    if (session->info.fenced != GS_FENCE_REPORT && session->info.fenced != GS_FENCE_STRICT)
        status = error_set(GS_ERR_NOT_SUPPORTED, "the session was not attached with "
                                                 "GS_FENCE_REPORT, so its strays are not recorded");
    if (status == GS_OK)
        status = sync_request(session, &request);
    if (status == GS_OK && !session_alive(session))
        status = session_trouble(session);
    if (status == GS_OK) {
        stray.count = request.ret[0];
        stray.address = request.ret[1];
        stray.line = (unsigned)request.ret[2];
        stray.stream = (unsigned)(request.ret[2] >> 32 & 0xff);
        stray.launch = request.ret[3];
        stray.launch_last = request.ret[3] + (request.ret[2] >> 40);
        status =
            params_write(out, PARAMS_UP_TO(gs_stray, kernel), &stray, sizeof(stray), "gs_stray");
    }
    session_leave(session);
    return status;
}
