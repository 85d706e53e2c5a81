/* server_memory.c - see server_memory.h. */
#include "worker/memory/server_memory.h"

#include "common/size_text.h"
#include "worker/jobs/job.h"
#include "worker/memory/limits.h"
#include "worker/memory/user.h"

static uint64_t user_limit(const struct session_memory *memory)
{
    return atomic_load_explicit(&memory->user_host_mem, memory_order_relaxed);
}

bool server_memory_charge_user(struct session *session, uint64_t bytes)
{
    return user_host_bytes_charge(session->memory.user, bytes, user_limit(&session->memory));
}

void server_memory_discharge_user(struct session *session, uint64_t bytes)
{
    user_host_bytes_discharge(session->memory.user, bytes);
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
    if (!server_memory_charge_user(job->session, bytes))
        return job_fail(job, GS_ERR_LIMIT,
                        "%s of the server's memory wanted, the user's sessions have %s of %s",
                        size_exact(wanted, bytes), size_exact(used, user_host_bytes(memory->user)),
                        size_exact(most, user_limit(memory)));
    memory->server_bytes += bytes;
    return GS_OK;
}

void server_memory_adopt(struct session *session, uint64_t bytes)
{
    user_host_bytes_charge(session->memory.user, bytes, 0);
    session->memory.server_bytes += bytes;
}

void server_memory_discharge(struct session *session, uint64_t bytes)
{
    if (!session->memory.user)
        return;
    session->memory.server_bytes -= bytes;
    user_host_bytes_discharge(session->memory.user, bytes);
}

void server_memory_deinit(struct session *session)
{
    server_memory_discharge(session, session->memory.server_bytes);
}
