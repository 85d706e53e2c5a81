/* server_memory.c - see server_memory.h. */
#include "worker/memory/server_memory.h"

#include "common/size_text.h"
#include "worker/jobs/job.h"
#include "worker/memory/host_charge.h"
#include "worker/memory/limits.h"

bool server_memory_charge_user(struct session *session, uint64_t bytes)
{
    return host_charge(session, bytes);
}

void server_memory_discharge_user(struct session *session, uint64_t bytes)
{
    host_discharge(session, bytes);
}

gs_status server_memory_charge(struct job *job, uint64_t bytes)
{
    struct session_memory *memory = &job->session->memory;
    const uint64_t limit = host_limit();
    char wanted[SIZE_TEXT_MAX], used[SIZE_TEXT_MAX], most[SIZE_TEXT_MAX];

    if (memory->server_bytes > limit || bytes > limit - memory->server_bytes)
        return job_fail(job, GS_ERR_LIMIT,
                        "%s of the server's memory wanted, the session has %s of %s",
                        size_exact(wanted, bytes), size_exact(used, memory->server_bytes),
                        size_exact(most, limit));
    if (host_charge_job(job, bytes, "the server's memory") != GS_OK)
        return job->status;
    memory->server_bytes += bytes;
    return GS_OK;
}

void server_memory_adopt(struct session *session, uint64_t bytes)
{
    host_charge_adopt(session, bytes);
    session->memory.server_bytes += bytes;
}

void server_memory_discharge(struct session *session, uint64_t bytes)
{
    if (!session->memory.user)
        return;
    session->memory.server_bytes -= bytes;
    host_discharge(session, bytes);
}

void server_memory_deinit(struct session *session)
{
    server_memory_discharge(session, session->memory.server_bytes);
}
