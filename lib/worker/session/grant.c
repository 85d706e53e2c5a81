/*
 * grant.c - grants: the supervisor decides what a session may use, and this file applies that,
 * between two records.
 *
 * A grant comes with LINK_OPEN or, to a live session, with LINK_GRANT. If its partition must be
 * made first, the session goes on under the old grant meanwhile. If a newer grant arrives while one
 * waits, only the newer one counts. Applying a grant writes it into the session's segment
 * (seg_grant): what the tenant reads there holds for its next launch.
 */
#include "worker/session/grant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/seg_grant.h"
#include "common/sm_groups.h"
#include "common/util.h"
#include "worker/driver/prewake.h"
#include "worker/memory/limits.h"
#include "worker/sched/class_traits.h"
#include "worker/sched/domain.h"
#include "worker/sched/lane.h"
#include "worker/session/busy.h"
#include "worker/session/polling.h"
#include "worker/session/resume.h"
#include "worker/session/session.h"
#include "worker/submit/placement.h"
#include "worker/submit/stream.h"

static struct job *waiting; /* grant jobs whose partition is being made, oldest first */

/* ---- Applying -------------------------------------------------------------------------------- */

static void grant_publish(struct session *session, uint64_t mem_limit)
{
    const struct grant *grant = &session->grant;
    struct seg_grant words = {
        .cls = grant->link.cls,
        .priority = grant->link.priority,
        .priority_max = grant->link.priority_max,
        .weight = grant->link.weight,
        .sm_count = grant->sm_count,
        .exclusive = grant->link.exclusive,
        .launches_max = grant->link.launches_max,
        .partition = grant->partition ? grant->partition->id : 0,
        .deadline_ns = grant->link.deadline_ns,
        .mem_limit = mem_limit,
    };

    memcpy(words.sm_mask, grant->mask.word, sizeof(words.sm_mask));
    session->grant.sequence += 2;
    seg_grant_write(&session->server_page->grant, &words, session->grant.sequence);
}

void grant_apply(struct job *job)
{
    struct session *session = job->session;
    const struct link_grant *link = &job->grant;
    struct partition *partition = job->partition;
    struct grant *grant = &session->grant;

    job->partition = NULL;
    partition_release(grant->partition);
    placement_deinit(session);
    grant->link = *link;
    if (grant->link.priority_max < grant->link.priority)
        grant->link.priority_max = grant->link.priority;
    grant->partition = partition;
    grant->mask = partition ? partition->mask : sm_mask_first(worker->info.sm_count);
    grant->sm_count = partition ? partition->sm_count : worker->info.sm_count;
    /* The cached affinities were found within the old grant. */
    memset(session->placement.affinity, 0, sizeof(session->placement.affinity));
    for (uint32_t i = 0; i < SEG_STREAMS; i++)
        stream_grant(session, &session->submit.streams[i]);
    domains_moved();
    sched_class(domain_of(session), &session->sched.entity, link->cls);
    session->sched.entity.weight = link->weight;
    session->sched.entity.launches_max = link->launches_max;
    user_limits_set(session, link);
    service_compile_limit(session, link->user_compile);
    grant_publish(session, memory_limit_set(session, link->mem_limit, link->user_mem_limit));
    if (class_traits(link->cls).wants_headroom || class_traits(link->cls).leaves_headroom)
        placements_prepare();
}

void grant_deinit(struct session *session)
{
    placement_deinit(session);
    partition_release(session->grant.partition);
    session->grant.partition = NULL;
}

/* ---- Waiting for a partition ----------------------------------------------------------------- */

static struct sm_mask grant_mask(const struct link_grant *grant)
{
    struct sm_mask mask;

    memcpy(mask.word, grant->sm_mask, sizeof(mask.word));
    return mask;
}

bool grant_has_mask(const struct link_grant *grant)
{
    const struct sm_mask mask = grant_mask(grant);

    return !sm_mask_empty(&mask);
}

/* Finds the grant's partition, which may have to be made, and holds it for the job. A grant of the
 * whole device needs none. */
static void partition_find(struct job *job)
{
    const struct sm_mask mask = grant_mask(&job->grant), all = sm_mask_first(worker->info.sm_count);
    gs_status status;

    if (sm_mask_empty(&mask) || sm_mask_equal(&mask, &all))
        return;
    if (!worker->info.sm_groups) {
        job_fail(job, GS_ERR_NOT_SUPPORTED, "this device or its driver has no partitions");
        return;
    }
    if (!sm_groups_whole(&mask, worker->info.sm_group, worker->info.sm_count)) {
        job_fail(job, GS_ERR_INVALID_VALUE,
                 "the mask is not of whole groups of SMs, the smallest of %u",
                 worker->info.sm_granularity);
        return;
    }
    partitions_keep(); /* no launch is between its record and its issue at this point */
    job->partition = placement_get(&mask, job->session, &status);
    if (job->partition)
        partition_hold(job->partition);
    else
        job_fail(job, status, "%s", partition_trouble(status));
}

/* Sends LINK_GRANTED, with the job's status. */
static void grant_answer(const struct job *job)
{
    struct link_message message = {.op = LINK_GRANTED, .slot = job->index};

    message.u.granted.sequence = job->grant.sequence;
    message.u.granted.status = job->status;
    snprintf(message.text, sizeof(message.text), "%.190s", job->message);
    link_send(&message, -1);
}

/* Ends a grant job whose partition is ready, has failed, or is not needed, or that has failed
 * itself. */
static void grant_end(struct job *job)
{
    struct session *session = job->session;

    if (job->partition && job->partition->state == PARTITION_FAILED)
        job_fail(job, job->partition->status, "%s", job->partition->text);
    if (job->status != GS_OK) {
        partition_release(job->partition);
        job->partition = NULL;
    }
    if (job->kind == &job_grant) {
        if (job->status == GS_OK) {
            grant_apply(job);
            /* The tenant launches as soon as it has the answer, so its session is polled from now
             * on. With few CPUs it is not, because polling would delay the answer itself. */
            prewake(PREWAKE_JOBS);
            if (prewake_pending(PREWAKE_JOBS, session->lane->now))
                session_poll_begin(session);
        }
        grant_answer(job);
        job_free(job);
    } else if (job->status == GS_OK) {
        job->kind = job->open.resume ? &job_resume : &job_open;
        service_push(job);
    } else {
        session_opened(job);
        session_free(session);
        job_free(job);
    }
}

static void waiting_add(struct job *job)
{
    struct job **end = &waiting;

    while (*end)
        end = &(*end)->next;
    job->next = NULL;
    *end = job;
}

/* Removes the session's waiting job_grant and returns it; NULL: none. */
static struct job *waiting_remove(const struct session *session)
{
    for (struct job **link = &waiting; *link; link = &(*link)->next) {
        struct job *job = *link;
        if (job->session == session && job->kind == &job_grant) {
            *link = job->next;
            return job;
        }
    }
    return NULL;
}

static void grant_give_up(struct job *job, const char *why)
{
    if (!job)
        return;
    job_fail(job, GS_ERR_INTERRUPTED, "%s", why);
    grant_end(job);
}

void grant_take(struct job *job)
{
    grant_give_up(waiting_remove(job->session), "a newer grant took its place");
    partition_find(job);
    if (job->status == GS_OK && job->partition && job->partition->state == PARTITION_MAKING)
        waiting_add(job);
    else
        grant_end(job);
}

/* Fails an attach whose client would give up before the answer. The partition is made
 * nevertheless. */
static void patience_look(struct job *job, uint64_t now)
{
    char who[BUSY_TEXT_MAX];

    if (job->open.give_up_ns && now >= job->open.give_up_ns)
        job_fail(job, GS_ERR_TIMEOUT, "new SMs need a moment without running kernels: %s",
                 busy_describe(who));
}

void grants_poll(uint64_t now)
{
    struct job **link = &waiting;

    while (*link) {
        struct job *job = *link;
        if (job->partition->state == PARTITION_MAKING) {
            patience_look(job, now);
            if (job->status == GS_OK) {
                link = &job->next;
                continue;
            }
        }
        *link = job->next;
        grant_end(job);
    }
}

bool grants_any(void)
{
    return waiting;
}

void grant_cancel(const struct session *session)
{
    grant_give_up(waiting_remove(session), "the session is being closed");
}

/* These jobs have no step of their own: route.c hands them to grant_take. */
const struct job_kind job_grant = {"grant", JOB_QUICK, NULL, NULL, NULL, NULL};
const struct job_kind job_open_partition = {"open_partition", JOB_QUICK, NULL, NULL, NULL, NULL};
