/* sync_request.c - see sync_request.h. */
#include "client/submit/sync_request.h"

#include <stdio.h>
#include <string.h>

#include "client/base/error.h"
#include "client/submit/submit.h"
#include "common/util.h"

#define SPINS       256u /* polls before the first sleep: many replies take only microseconds */
#define LIVENESS_NS 20000000u /* the longest sleep without a check that the server lives */

static void request_post(struct session *session, const struct sync_request *request)
{
    struct seg_request *slot = session->request;

    slot->op = request->op;
    slot->serial = slot->serial + 1 ? slot->serial + 1 : 1;
    memcpy(slot->arg, request->arg, sizeof(slot->arg));
    size_t length = request->name ? strnlen(request->name, sizeof(slot->name) - 1) : 0;

    if (length)
        memcpy(slot->name, request->name, length);
    slot->name[length] = 0;
    if (request->texture)
        memcpy(&slot->payload.texture, request->texture, sizeof(*request->texture));
    if (request->gemm)
        memcpy(slot->payload.bytes, request->gemm, sizeof(*request->gemm));
    if (request->tensor_map)
        memcpy(&slot->payload.tensor_map, request->tensor_map, sizeof(*request->tensor_map));
    /* Pairs with the server's acquire of POSTED; the request is complete before. seq_cst for
     * activity_signal. */
    atomic_store_explicit(&slot->state, REQ_POSTED, memory_order_seq_cst);
    activity_signal(session, SEG_REQUEST_BIT);
}

static gs_status request_await(struct session *session)
{
    _Atomic uint32_t *state = &session->request->state;

    /* acquire, in each load: pairs with the server's release of DONE, after the reply. */
    for (unsigned i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(state, memory_order_acquire) == REQ_DONE)
            return GS_OK;
        cpu_relax();
    }
    for (;;) {
        uint32_t seen = atomic_load_explicit(state, memory_order_acquire);
        if (seen == REQ_DONE)
            return GS_OK;
        if (!session_alive(session)) {
            if (atomic_load_explicit(state, memory_order_acquire) == REQ_DONE)
                return GS_OK;
            return session_trouble(session);
        }
        futex_wait(state, seen, LIVENESS_NS);
    }
}

static gs_status request_finish(struct session *session, struct sync_request *request)
{
    struct seg_request *slot = session->request;
    gs_status status = (gs_status)slot->status;
    char message[sizeof(slot->message)];

    if (status == GS_OK) {
        memcpy(request->ret, slot->ret, sizeof(request->ret));
        if (request->kernel)
            memcpy(request->kernel, &slot->payload.kernel, sizeof(*request->kernel));
        if (request->map)
            memcpy(request->map, slot->payload.bytes, REQ_TENSOR_MAP_BYTES);
        if (request->text)
            snprintf(request->text, request->text_size, "%.*s", (int)sizeof(slot->message),
                     slot->message);
    } else {
        memcpy(message, slot->message, sizeof(message));
        message[sizeof(message) - 1] = '\0';
        if ((unsigned)status > GS_ERR_ILLEGAL_ADDRESS)
            status = error_set(GS_ERR_PROTOCOL, "the server answered with status %d, no status",
                               (int)status);
        else
            error_server(status, message);
    }
    /* release: the reply is read before the slot takes the next request. */
    atomic_store_explicit(&slot->state, REQ_IDLE, memory_order_release);
    return status;
}

gs_status sync_request(struct session *session, struct sync_request *request)
{
    gs_status status;

    pthread_mutex_lock(&session->request_lock);
    if (session_alive(session)) {
        request_post(session, request);
        status = request_await(session);
        if (status == GS_OK)
            status = request_finish(session, request);
    } else {
        status = session_trouble(session);
    }
    pthread_mutex_unlock(&session->request_lock);
    return status;
}

gs_status request_name_check(const char *name, const char *what)
{
    size_t room = sizeof(((struct seg_request *)0)->name);

    if (!name || !*name)
        return error_set(GS_ERR_INVALID_VALUE, "the name of the %s is %s", what,
                         name ? "empty" : "NULL");
    if (strnlen(name, room) == room)
        return error_set(GS_ERR_INVALID_VALUE, "the name of the %s is longer than %zu bytes", what,
                         room - 1);
    return GS_OK;
}
