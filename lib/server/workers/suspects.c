/* suspects.c - see suspects.h. */
#include "server/workers/suspects.h"

#include <stdio.h>

#include "common/log_event.h"
#include "common/util.h"
#include "server/session/events.h"
#include "server/state/server.h"
#include "server/workers/ending.h"

/* Adds the session to the suspects. A supervisor that was killed while it handled the same message
 * may have added it already, as the last one. */
static void suspect_name(struct suspects *suspects, const struct session *session)
{
    const uint32_t count = suspects->count;

    if (count && count <= SUSPECTS_NAMED && suspects->session_id[count - 1] == session->id)
        return;
    if (count == 0)
        suspects->uid = session->uid;
    suspects->several_users = suspects->several_users || suspects->uid != session->uid;
    if (count < SUSPECTS_NAMED)
        suspects->session_id[count] = session->id;
    suspects->count++;
}

void suspect_add(const struct session *session)
{
    struct device *device = session->device;
    struct account *account = account_find(&session->server->accounts, session->uid);
    struct log_event event = log_event_begin("suspect");
    const uint64_t now = clock_ns();

    suspect_name(&device->suspects, session);
    if (account)
        account_suspect(account, device->worker.ready_ns, now);
    if (!account_event(account, now))
        return;
    event_session(&event, session);
    log_event_write(&event, LOG_LEVEL_INFO);
}

/* Returns whether the worker was compiling for the session. Until the session is open its figures
 * may be those of a former session or worker. */
static bool was_compiling(const struct session *session)
{
    return (session->state == SESSION_OPEN || session->state == SESSION_CLOSING) &&
           atomic_load_explicit(&session->device->stats[session->slot].compiling,
                                memory_order_relaxed);
}

/* Returns the number of sessions for which the worker was compiling, and sets *only to the last of
 * them. */
static uint32_t compiling_count(struct device *device, const struct session **only)
{
    uint32_t count = 0;

    for (struct session *s = NULL; (s = device_session_next(device, s));) {
        if (was_compiling(s)) {
            *only = s;
            count++;
        }
    }
    return count;
}

static void compiling_suspect(struct device *device)
{
    for (struct session *s = NULL; (s = device_session_next(device, s));) {
        if (was_compiling(s))
            suspect_add(s);
    }
}

static bool is_suspect(const struct session *session)
{
    const struct account *account = account_find(&session->server->accounts, session->uid);

    return account && account->suspect_ns > clock_ns();
}

static void compiling_blame(struct device *device, const struct session *session, const char *how)
{
    const struct link_fatal fatal = {.status = GS_ERR_FAULT, .kind = GS_FAULT_DEVICE};

    worker_fail(device, &fatal, session->slot, "%s while it compiled a module", how);
}

void worker_crashed(struct device *device, const char *how)
{
    const struct session *only = NULL;

    if (compiling_count(device, &only) == 1) {
        compiling_blame(device, only, how);
        return;
    }
    compiling_suspect(device);
    worker_fail(device, NULL, LINK_SLOT_NONE, "%s", how);
}

void worker_starved(struct device *device, const char *how)
{
    const struct session *only = NULL;
    char text[ERROR_TEXT_MAX];

    snprintf(text, sizeof(text), "%s for want of memory", how);
    if (compiling_count(device, &only) == 1 && is_suspect(only)) {
        compiling_blame(device, only, text);
        return;
    }
    compiling_suspect(device);
    worker_fail(device, NULL, LINK_SLOT_NONE, "%s", text);
}
