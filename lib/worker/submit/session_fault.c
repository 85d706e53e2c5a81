/* session_fault.c - see session_fault.h. */
#include "worker/submit/session_fault.h"

#include <stdio.h>

#include "common/util.h"

void session_fault(struct session *session, uint32_t stream, uint32_t kind, gs_status status,
                   const char *kernel, const char *message)
{
    struct seg_fault *fault = &session->server->fault;

    if (session->submit.faulted)
        return;
    session->submit.faulted = true;
    fault->kind = kind;
    fault->status = status;
    fault->stream = stream;
    fault->position = session->submit.streams[stream].head;
    snprintf(fault->kernel, sizeof(fault->kernel), "%.63s", kernel);
    snprintf(fault->message, sizeof(fault->message), "%.191s", message);
    /* release: publishes the fault to the client that sees the state */
    atomic_store_explicit(&session->server->state, SEG_FAULTED, memory_order_release);
    futex_wake(&session->server->state);
}
