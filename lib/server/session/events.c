/* events.c - see events.h. */
#include "server/session/events.h"

#include "common/setting_text.h"
#include "common/status.h"
#include "common/util.h"
#include "server/session/trace.h"
#include "server/state/server.h"

static bool allowed(struct server *server, uid_t uid)
{
    return account_event(account_get(&server->accounts, uid), clock_ns());
}

/* Returns whether a refusal may be logged, since a program may attach again without end. */
static bool refusal_allowed(struct server *server, uid_t uid)
{
    return account_log(account_get(&server->accounts, uid), clock_ns());
}

void event_session(struct log_event *event, const struct session *session)
{
    log_event_number(event, "session", session->id);
    log_event_user(event, "user", session->uid);
    log_event_number(event, "pid", (uint64_t)session->pid);
    log_event_text(event, "name", session->name);
}

void session_attached_log(struct session *session)
{
    const struct link_grant *grant = &session->grant.target;
    const struct sm_mask sms = grants_sms(session);
    struct log_event event = log_event_begin("attached");

    session->attached = true;
    device_trace_session(session, TRACE_ATTACHED);
    if (!allowed(session->server, session->uid))
        return;
    event_session(&event, session);
    log_event_number(&event, "device", (uint64_t)session->device->index);
    log_event_number(&event, "sms", sm_mask_count(&sms));
    log_event_text(&event, "exclusive", grant->exclusive ? "yes" : "no");
    log_event_text(&event, "class", class_name(grant->cls));
    log_event_number(&event, "priority", (uint64_t)grant->priority);
    log_event_number(&event, "weight", grant->weight);
    log_event_size(&event, "mem", session_memory_limit(session));
    log_event_text(&event, "fenced", session->fenced ? "yes" : "no");
    log_event_write(&event, LOG_LEVEL_INFO);
}

static const char *end_name(const struct session *session)
{
    if (session->server->phase >= PHASE_STOPPING)
        return "server";
    if (session->by_operator)
        return "operator";
    return session->state == SESSION_LOST ? "device-lost" : "client";
}

void session_detached_log(struct session *session)
{
    const struct link_stats *stats = session->device->stats;
    struct log_event event = log_event_begin("detached");

    if (!session->attached)
        return;
    session->attached = false;
    device_trace_session(session, TRACE_DETACHED);
    if (!allowed(session->server, session->uid))
        return;
    event_session(&event, session);
    log_event_text(&event, "by", end_name(session));
    log_event_seconds(&event, "seconds", clock_ns() - session->attached_ns);
    if (stats) {
        stats += session->slot;
        log_event_number(&event, "launches",
                         atomic_load_explicit(&stats->launches, memory_order_relaxed));
        log_event_number(&event, "copies",
                         atomic_load_explicit(&stats->copies, memory_order_relaxed));
        log_event_number(&event, "copied_bytes",
                         atomic_load_explicit(&stats->copied_bytes, memory_order_relaxed));
        log_event_seconds(&event, "gpu_seconds",
                          atomic_load_explicit(&stats->gpu_ns, memory_order_relaxed));
        log_event_number(&event, "deadlines_missed",
                         atomic_load_explicit(&stats->deadlines_missed, memory_order_relaxed));
        if (session->fenced >= GS_FENCE_REPORT)
            log_event_number(&event, "strays",
                             atomic_load_explicit(&stats->strays, memory_order_relaxed));
    }
    log_event_write(&event, LOG_LEVEL_INFO);
}

static void refused_log(struct log_event *event, gs_status status, const char *reason)
{
    log_event_text(event, "status", status_name(status));
    log_event_text(event, "reason", reason);
    log_event_write(event, LOG_LEVEL_INFO);
}

void attach_refused_count(struct server *server, gs_status status)
{
    static_assert(GS_ERR_ILLEGAL_ADDRESS < CTL_STATUSES, "each status has its place");

    server->refusals[(uint32_t)status < CTL_STATUSES ? (uint32_t)status : CTL_STATUSES - 1]++;
}

void session_refused_log(const struct session *session, gs_status status, const char *reason)
{
    struct log_event event = log_event_begin("refused");

    attach_refused_count(session->server, status);
    if (!refusal_allowed(session->server, session->uid))
        return;
    event_session(&event, session);
    refused_log(&event, status, reason);
}

void attach_refused_log(struct server *server, const struct reply *reply, const char *name,
                        gs_status status, const char *reason)
{
    struct log_event event = log_event_begin("refused");

    attach_refused_count(server, status);
    if (!refusal_allowed(server, reply->uid))
        return;
    log_event_user(&event, "user", reply->uid);
    log_event_number(&event, "pid", (uint64_t)reply->pid);
    log_event_text(&event, "name", name);
    refused_log(&event, status, reason);
}
