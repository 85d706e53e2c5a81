/* suspects.c - see suspects.h. */
#include "server/workers/suspects.h"

#include "common/log_event.h"
#include "common/util.h"
#include "server/session/events.h"
#include "server/state/server.h"
#include "server/workers/ending.h"

/* The session may have been named by a supervisor that was killed over its message, and is the last
 * one then. */
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

/* Whether the worker was compiling for the session. Until it is open, its figures may be what a
 * former session or worker has left. */
static bool was_compiling(const struct session *session)
{
    return (session->state == SESSION_OPEN || session->state == SESSION_CLOSING) &&
           atomic_load_explicit(&session->device->stats[session->slot].compiling,
                                memory_order_relaxed);
}

void worker_crashed(struct device *device, const char *how)
{
    const struct link_fatal fatal = {.status = GS_ERR_FAULT, .kind = GS_FAULT_DEVICE};
    const struct session *only = NULL;
    uint32_t count = 0;

    for (struct session *s = NULL; (s = device_session_next(device, s));) {
        if (was_compiling(s)) {
            only = s;
            count++;
        }
    }
    if (count == 1) {
        worker_fail(device, &fatal, only->slot, "%s while it compiled a module", how);
        return;
    }
    for (struct session *s = NULL; (s = device_session_next(device, s));) {
        if (was_compiling(s))
            suspect_add(s);
    }
    worker_fail(device, NULL, LINK_SLOT_NONE, "%s", how);
}
