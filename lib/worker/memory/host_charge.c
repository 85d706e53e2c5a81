/* host_charge.c - see host_charge.h. */
#include "worker/memory/host_charge.h"

#include "common/size_text.h"
#include "worker/jobs/job.h"
#include "worker/memory/limits.h"
#include "worker/memory/user.h"

bool host_charge(struct session *session, uint64_t bytes)
{
    const struct host_limits limits = host_limits(&session->memory);

    return user_host_bytes_charge(session->memory.user, bytes, &limits);
}

void host_charge_adopt(struct session *session, uint64_t bytes)
{
    user_host_bytes_charge(session->memory.user, bytes, &(struct host_limits){0});
}

void host_discharge(struct session *session, uint64_t bytes)
{
    user_host_bytes_discharge(session->memory.user, bytes);
}

gs_status host_charge_job(struct job *job, uint64_t bytes, const char *what)
{
    const struct user *user = job->session->memory.user;
    const struct host_limits limits = host_limits(&job->session->memory);
    char text[4][SIZE_TEXT_MAX];

    if (host_charge(job->session, bytes))
        return GS_OK;
    size_exact(text[0], bytes);
    size_exact(text[1], user_host_bytes(user));
    if (!user_host_bytes_fit(user, bytes, &limits))
        return job_fail(job, GS_ERR_LIMIT, "%s of %s wanted, the user's sessions have %s of %s",
                        text[0], what, text[1], size_exact(text[2], limits.user));
    return job_fail(
        job, GS_ERR_LIMIT,
        "%s of %s wanted, the user's sessions have %s, and those of all users %s of %s%s", text[0],
        what, text[1], size_exact(text[2], users_host_bytes()), size_exact(text[3], limits.all),
        limits.granted ? "" : "; a user may have no more than is left for all");
}
