/* memory_refused.c - logs, for the operator, that a tenant has reached its memory limit or the end
 * of the device's memory; see memory_refused.h. The tenant learns it from the status. */
#include "worker/loop/memory_refused.h"

#include "common/log_allowance.h"
#include "common/log_event.h"
#include "common/status.h"
#include "worker/session/session.h"

/* A program may retry without end, so the lines are rate-limited, like those of refused
 * attaches. */
static struct log_allowance allowance = LOG_ALLOWANCE(8, 10000000000u);

void memory_refused_log(const struct job *job)
{
    const struct session *session = job->session;
    struct log_event event = log_event_begin("memory");

    if ((job->status != GS_ERR_QUOTA && job->status != GS_ERR_NO_DEVICE_MEMORY) ||
        !log_allowance_take(&allowance, session->uid))
        return;
    log_event_number(&event, "session", session->id);
    log_event_text(&event, "user", session->user);
    log_event_number(&event, "uid", session->uid);
    log_event_text(&event, "name", session->name);
    if (job->refused.asked) {
        log_event_number(&event, "asked", job->refused.asked);
        log_event_number(&event, "used", job->refused.used);
        log_event_number(&event, "limit", job->refused.limit);
    }
    log_event_text(&event, "status", status_name(job->status));
    log_event_text(&event, "reason", job->message);
    log_event_write(&event, LOG_LEVEL_INFO);
}
