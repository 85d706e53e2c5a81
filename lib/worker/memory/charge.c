/* charge.c - see charge.h. */
#include "worker/memory/charge.h"

#include <stdio.h>

#include "common/size_text.h"
#include "worker/memory/limits.h"
#include "worker/memory/user.h"

/* Fails the job, because `used` of `whose` limit are in use, and the amount does not fit. */
static gs_status refuse(struct job *job, const struct amount *amount, const char *whose,
                        uint64_t used, uint64_t limit)
{
    char text[3][SIZE_TEXT_MAX], counted[2 * SIZE_TEXT_MAX + 32] = "";

    if (amount->size != amount->asked)
        snprintf(counted, sizeof(counted), ", counted in pieces of %s as %s",
                 size_exact(text[0], amount->granularity), size_exact(text[1], amount->size));
    job->refused.asked = amount->asked;
    job->refused.used = used;
    job->refused.limit = limit;
    return job_fail(job, GS_ERR_QUOTA, "%s wanted%s; %s of %s limit of %s are in use",
                    size_exact(text[0], amount->asked), counted, size_exact(text[1], used), whose,
                    size_exact(text[2], limit));
}

gs_status charge(struct job *job, const struct amount *amount, bool user_too)
{
    struct session *session = job->session;
    const struct limits limits = memory_limits(session);
    const uint64_t size = amount->size;

    if (session->memory.used > limits.session || size > limits.session - session->memory.used)
        return refuse(job, amount, "the session's", session->memory.used, limits.session);
    if (user_too && !user_charge(session->memory.user, size, limits.user)) {
        char whose[sizeof(session->user) + 8];
        snprintf(whose, sizeof(whose), "user %s's", session->user);
        return refuse(job, amount, whose, user_used(session->memory.user), limits.user);
    }
    session->memory.used += size;
    return GS_OK;
}

void discharge(struct session *session, uint64_t size, bool user_too)
{
    session->memory.used -= size;
    if (user_too)
        user_discharge(session->memory.user, size);
}

gs_status charge_shown(struct job *job, uint64_t asked, uint64_t size, uint64_t granularity)
{
    const struct amount amount = {asked, size, granularity};

    if (charge(job, &amount, true) == GS_OK)
        atomic_fetch_add_explicit(&job->session->stats->memory_used, size, memory_order_relaxed);
    return job->status;
}

void discharge_shown_session(struct session *session, uint64_t size)
{
    discharge(session, size, false);
    atomic_fetch_sub_explicit(&session->stats->memory_used, size, memory_order_relaxed);
}

void discharge_shown(struct session *session, uint64_t size)
{
    discharge_shown_session(session, size);
    user_discharge(session->memory.user, size);
}
