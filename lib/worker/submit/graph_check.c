/*
 * graph_check.c - checks the records of a tenant's graph again before a launch, if anything that
 * they may name was freed since. Runs on the main lane, on a few steps at a time, because all
 * tenants of the lane wait meanwhile.
 */
#include "worker/submit/graph_check.h"

#include <string.h>

#include "worker/partition/kernel_launch.h"
#include "worker/sched/lane.h"
#include "worker/session_parts.h"

#define STEPS_AT_ONCE 128u       /* steps that are checked before other sessions are served */
#define WAIT_NS       100000000u /* the longest that a session's requests wait for a check */

struct graph_check graph_check_of_new(const struct session *session)
{
    return (struct graph_check){.made_serial = session->serial,
                                .done_generation = session->memory.generation};
}

struct graph_check graph_check_of_old(uint64_t made_serial)
{
    return (struct graph_check){
        .made_serial = made_serial, .done_generation = UINT64_MAX, .generation = UINT64_MAX};
}

static record_refusal step_check(const struct session *session, const struct graph_check *check,
                                 const struct graph_records *records, bool *in_clusters)
{
    struct graph_step step;
    const record_refusal refusal =
        graph_step_check(session, records->memory + records->offset[check->step], &step);

    /* The journal does not tell a next worker about clusters. */
    *in_clusters |= !refusal && step.is_launch && launch_in_clusters(&step.launch);
    return !refusal && graph_step_serial(session, &step) > check->made_serial
               ? "a graph of a kernel or host memory that is gone"
               : refusal;
}

/* Restarts the check, because something was freed since it began. The session's requests wait for a
 * while, so that its own frees do not keep the check from ending. */
static void check_begin(struct session *session, struct graph_check *check)
{
    check->generation = session->memory.generation;
    check->step = 0;
    check->stale_count = 0;
    memset(check->stale, 0, sizeof(check->stale));
    session->submit.requests_from_ns = session->lane->now + WAIT_NS;
}

bool graph_check_done(struct session *session, struct graph_check *check,
                      const struct graph_records *records, bool *in_clusters)
{
    if (check->done_generation == session->memory.generation)
        return true;
    if (check->generation != session->memory.generation)
        check_begin(session, check);
    for (uint32_t n = 0; n < STEPS_AT_ONCE && check->step < records->steps; n++) {
        const record_refusal refusal = step_check(session, check, records, in_clusters);

        if (refusal && !check->stale_count++)
            check->stale_text = refusal;
        check->stale[check->step / 64] |= (uint64_t)(refusal != NULL) << check->step % 64;
        check->step++;
    }
    if (check->step < records->steps)
        return false;
    session->submit.requests_from_ns = 0;
    check->done_generation = session->memory.generation;
    return true;
}

record_refusal graph_check_refusal(const struct graph_check *check,
                                   const struct graph_changes *changes)
{
    uint32_t changed = 0;

    if (!check->stale_count)
        return NULL;
    for (uint32_t at = 0, step, last = NO_STEP; (step = graph_change_step(changes, at)) != NO_STEP;
         last = step) {
        changed += step != last && check->stale[step / 64] >> step % 64 & 1;
        at = graph_change_next(changes, at);
    }
    return changed < check->stale_count ? check->stale_text : NULL;
}
