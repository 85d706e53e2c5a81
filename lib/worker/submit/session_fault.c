/* session_fault.c - see session_fault.h. */
#include "worker/submit/session_fault.h"

#include <stdio.h>

#include "common/log_allowance.h"
#include "common/log_event.h"
#include "common/status.h"
#include "common/unfinished.h"
#include "common/util.h"

/* Limits the faults that are logged per user, because a program may attach and trap without end. */
static struct log_allowance allowance = LOG_ALLOWANCE(64, 10000000000u);

static void fault_log(const struct session *session, const struct seg_fault *fault)
{
    struct log_event event = log_event_begin("fault");

    if (!log_allowance_take(&allowance, session->uid))
        return;
    log_event_number(&event, "session", session->id);
    log_event_text(&event, "user", session->user);
    log_event_number(&event, "uid", session->uid);
    log_event_number(&event, "pid", (uint64_t)session->pid);
    log_event_text(&event, "name", session->name);
    log_event_text(&event, "kernel", fault->kernel);
    log_event_fault(&event, fault);
    log_event_text(&event, "status", status_name(fault->status));
    log_event_text(&event, "reason", fault->message);
    log_event_write(&event, LOG_LEVEL_WARNING);
}

/* Returns how many launches after `launch` may have caused the fault too. */
static uint32_t launches_beyond(const struct fault *fault)
{
    const uint64_t more =
        fault->launch_last > fault->launch ? fault->launch_last - fault->launch : 0;

    return more < UINT32_MAX ? (uint32_t)more : UINT32_MAX;
}

void session_fault(struct session *session, const struct fault *fault)
{
    /* The worker's own copy, because the tenant can write the one in the segment. */
    struct seg_fault verdict = {.kind = fault->kind,
                                .status = fault->status,
                                .stream = fault->stream,
                                .position = session->submit.streams[fault->stream].head,
                                .launch = fault->launch,
                                .launch_more = launches_beyond(fault),
                                .address = fault->address};

    if (session->submit.faulted)
        return;
    session->submit.faulted = true;
    unfinished_tell(session->segment, &verdict);
    snprintf(verdict.kernel, sizeof(verdict.kernel), "%.63s", fault->kernel ? fault->kernel : "");
    snprintf(verdict.message, sizeof(verdict.message), "%.191s", fault->message);
    session->server_page->fault = verdict;
    fault_log(session, &verdict);
    /* release: publishes the fault to the client that sees the state */
    atomic_store_explicit(&session->server_page->state, SEG_FAULTED, memory_order_release);
    futex_wake(&session->server_page->state);
}
