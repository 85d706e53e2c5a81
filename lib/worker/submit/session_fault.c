/* session_fault.c - see session_fault.h. */
#include "worker/submit/session_fault.h"

#include <pthread.h>
#include <stdio.h>

#include "common/log_event.h"
#include "common/status.h"
#include "common/util.h"

/* Faults of a user's sessions that are logged in a window: a program may attach and trap without
 * end, and must not hide what others do. A user is remembered longer than its last session. */
#define LOG_WINDOW_NS 10000000000u
#define LOG_LINES     64u
#define LOG_USERS     16u /* who had a fault last; of more at a time, each may have more lines */

static struct {
    pthread_mutex_t lock;
    struct allowance {
        uint64_t since_ns; /* 0: nobody's */
        uint32_t uid, lines;
    } user[LOG_USERS];
} allowances = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The user's, or the one that was begun longest ago. Under the lock. */
static struct allowance *allowance_find(uint32_t uid)
{
    struct allowance *found = allowances.user;

    for (uint32_t i = 0; i < LOG_USERS; i++) {
        struct allowance *at = &allowances.user[i];
        if (at->since_ns && at->uid == uid)
            return at;
        if (at->since_ns < found->since_ns)
            found = at;
    }
    return found;
}

static bool log_allowed(uint32_t uid)
{
    const uint64_t now = clock_ns();

    pthread_mutex_lock(&allowances.lock);
    struct allowance *user = allowance_find(uid);
    if (user->uid != uid || now - user->since_ns >= LOG_WINDOW_NS)
        *user = (struct allowance){.since_ns = now, .uid = uid};
    const bool allowed = user->lines < LOG_LINES;
    user->lines += allowed;
    pthread_mutex_unlock(&allowances.lock);
    return allowed;
}

static void fault_log(const struct session *session, gs_status status, const char *kernel,
                      const char *message)
{
    struct log_event event = log_event_begin("fault");

    if (!log_allowed(session->uid))
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
    fault_log(session, status, kernel, message);
    /* release: publishes the fault to the client that sees the state */
    atomic_store_explicit(&session->server->state, SEG_FAULTED, memory_order_release);
    futex_wake(&session->server->state);
}
