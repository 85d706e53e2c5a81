/* driver_memory.c - see driver_memory.h. */
#include "worker/memory/driver_memory.h"

#include "common/size_text.h"
#include "worker/jobs/job.h"
#include "worker/memory/limits.h"
#include "worker/memory/user.h"

/* Adds to the session's figures. Relaxed: no other memory depends on these sums, to which lanes and
 * service threads add. */
static void session_add(struct session *session, uint64_t bytes)
{
    atomic_fetch_add_explicit(&session->memory.driver_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&session->stats->driver_memory, bytes, memory_order_relaxed);
}

static uint64_t user_limit(const struct session *session)
{
    return memory_limits(session).driver;
}

static bool charge(struct session *session, uint64_t bytes, uint64_t limit)
{
    if (!user_driver_charge(session->memory.user, bytes, limit))
        return false;
    session_add(session, bytes);
    return true;
}

bool driver_memory_charge_graph(struct session *session)
{
    return charge(session, DRIVER_GRAPH, user_limit(session) / 2);
}

gs_status driver_memory_charge_job(struct job *job, uint64_t bytes)
{
    struct session *session = job->session;
    char wanted[SIZE_TEXT_MAX], used[SIZE_TEXT_MAX], most[SIZE_TEXT_MAX];

    if (charge(session, bytes, user_limit(session)))
        return GS_OK;
    return job_fail(job, GS_ERR_LIMIT,
                    "%s of the driver's device memory wanted, the user's sessions have %s of %s "
                    "(user-driver-mem)",
                    size_exact(wanted, bytes),
                    size_exact(used, user_driver_bytes(session->memory.user)),
                    size_exact(most, user_limit(session)));
}

void driver_memory_adopt(struct session *session, uint64_t bytes)
{
    charge(session, bytes, 0);
}

void driver_memory_discharge(struct session *session, uint64_t bytes)
{
    if (!session->memory.user)
        return;
    user_driver_discharge(session->memory.user, bytes);
    atomic_fetch_sub_explicit(&session->memory.driver_bytes, bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&session->stats->driver_memory, bytes, memory_order_relaxed);
}

void driver_memory_deinit(struct session *session)
{
    driver_memory_discharge(
        session, atomic_load_explicit(&session->memory.driver_bytes, memory_order_relaxed));
}
