/* session_fault.c - see session_fault.h. */
#include "worker/submit/session_fault.h"

#include <stdio.h>

#include "common/log_allowance.h"
#include "common/log_event.h"
#include "common/status.h"
#include "common/util.h"

/* Faults of a user's sessions that are logged: a program may attach and trap without end. */
static struct log_allowance allowance = LOG_ALLOWANCE(64, 10000000000u);

static void fault_log(const struct session *session, gs_status status, const char *kernel,
                      const char *message)
{
    struct log_event event = log_event_begin("fault");

    if (!log_allowance_take(&allowance, session->uid))
        return;
    log_event_number(&event, "session", session->id);
    log_event_text(&event, "user", session->user);
    log_event_number(&event, "uid", session->uid);
    log_event_text(&event, "name", session->name);
    log_event_text(&event, "kernel", kernel);
    log_event_text(&event, "status", status_name(status));
    log_event_text(&event, "reason", message);
    log_event_write(&event, LOG_LEVEL_WARNING);
}

void session_fault(struct session *session, uint32_t stream, uint32_t kind, gs_status status,
                   const char *kernel, const char *message)
{
    struct seg_fault *fault = &session->server_page->fault;

    if (session->submit.faulted)
        return;
    session->submit.faulted = true;
    fault->kind = kind;
    fault->status = status;
    fault->stream = stream;
    fault->position = session->submit.streams[stream].head;
    snprintf(fault->kernel, sizeof(fault->kernel), "%.63s", kernel);
    snprintf(fault->message, sizeof(fault->message), "%.191s", message);
    fault_log(session, status, kernel, message);
    /* release: publishes the fault to the client that sees the state */
    atomic_store_explicit(&session->server_page->state, SEG_FAULTED, memory_order_release);
    futex_wake(&session->server_page->state);
}
