/* evict.c - see evict.h. */
#include "worker/session/evict.h"

#include <inttypes.h>
#include <stdio.h>

#include "worker/sched/inflight.h"
#include "worker/sched/session_table.h"
#include "worker/submit/stream.h"

/* The job has no step of its own: route.c calls evict_request. */
const struct job_kind job_evict = {"evict", JOB_QUICK, NULL, NULL, NULL, NULL};

void evict_request(const struct job *job)
{
    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s)) {
        if (s->slot == job->index && s->phase == SESSION_CLOSING && !streams_idle(s))
            device_evict(s->slot, job->message);
    }
}

/* Returns since when the session's oldest work is on the device; 0: the device has none. */
static uint64_t running_since(const struct session *session)
{
    const uint64_t since = inflight_since(session);

    if (since || !session->inflight.busy || session_seems_idle(session))
        return since;
    return session->poll.given_ns; /* copies without a fence, which were expected to be short */
}

/* Evicts the session whose oldest work exceeds its limit. The device begins work in the order in
 * which it got it, as far as there is room. So of all unfinished work the oldest is running, and
 * the others' work may be waiting for it. Its time counts from when it became the oldest, because
 * it may have waited itself before that. */
void evict_overdue(uint64_t now)
{
    static struct {
        uint64_t id, began; /* the session's id, and when its oldest work began */
        uint64_t from;      /* since when that is the oldest work of all */
    } oldest;
    struct session *found = NULL;
    uint64_t since = now;
    char text[96];

    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s)) {
        const uint64_t began = session_elsewhere(s) ? 0 : running_since(s);
        if (!began || began >= since)
            continue;
        since = began;
        found = s;
    }
    if (!found || found->id != oldest.id || since != oldest.began) {
        oldest.id = found ? found->id : 0;
        oldest.began = since;
        oldest.from = now;
        return;
    }
    if (!found->grant.link.kernel_limit ||
        now - oldest.from < found->grant.link.kernel_limit * UINT64_C(1000000) ||
        streams_idle(found)) /* asks the driver, which may not have been asked lately */
        return;
    snprintf(text, sizeof(text), "a kernel ran longer than its limit of %" PRIu32 " ms",
             found->grant.link.kernel_limit);
    device_evict(found->slot, text);
}
