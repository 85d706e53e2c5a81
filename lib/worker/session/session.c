/*
 * session.c - opens and closes sessions.
 *
 * Both are jobs. A service thread maps the segment, or finds it mapped already (segment_mapping.h),
 * reserves the window and opens the default stream. The main lane adds the session to the session
 * table, and removes it.
 */
#include "worker/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log_event.h"
#include "worker/journal/journal.h"
#include "worker/memory/chunk.h"
#include "worker/memory/driver_memory.h"
#include "worker/memory/host_block.h"
#include "worker/memory/limits.h"
#include "worker/memory/resume.h"
#include "worker/memory/segment_mapping.h"
#include "worker/memory/server_memory.h"
#include "worker/memory/user.h"
#include "worker/memory/window.h"
#include "worker/module/kernel_fault.h"
#include "worker/module/module.h"
#include "worker/module/print.h"
#include "worker/sched/domain.h"
#include "worker/sched/session_table.h"
#include "worker/session/grant.h"
#include "worker/submit/graph.h"
#include "worker/submit/report.h"
#include "worker/submit/stream.h"
#include "worker/texture/texture.h"

/* Clears the counters of the slot; the supervisor may be reading them. */
static void stats_clear(struct link_stats *stats)
{
    _Atomic uint64_t *figure = &stats->memory_used;

    static_assert(offsetof(struct link_stats, memory_used) == 0 &&
                      sizeof(struct link_stats) % sizeof(*figure) == 0,
                  "figures alone");
    for (size_t i = 0; i < sizeof(*stats) / sizeof(*figure); i++)
        atomic_store_explicit(&figure[i], 0, memory_order_relaxed);
}

struct session *session_new(uint32_t slot, const struct link_open *open, struct link_stats *stats)
{
    struct session *session = aligned_alloc(_Alignof(struct session), sizeof(*session));

    if (!session)
        return NULL;
    memset(session, 0, sizeof(*session));
    session->slot = slot;
    session->id = open->session_id;
    session->uid = open->uid;
    session->pid = open->pid;
    session->fenced = open->fenced;
    session->module.heap_asked = open->kernel_heap;
    pthread_mutex_init(&session->memory.sinks_lock, NULL);
    memcpy(session->name, open->name, sizeof(session->name));
    session->name[sizeof(session->name) - 1] = '\0';
    snprintf(session->user, sizeof(session->user), "%s", log_user_name(open->uid));
    session->stats = stats;
    if (open->resume) { /* a resumed session keeps its totals, but has nothing on the device */
        atomic_store_explicit(&stats->memory_used, 0, memory_order_relaxed);
        atomic_store_explicit(&stats->depth, 0, memory_order_relaxed);
        atomic_store_explicit(&stats->driver_memory, 0, memory_order_relaxed);
        atomic_store_explicit(&stats->compiling, 0, memory_order_relaxed);
    } else {
        stats_clear(stats);
    }
    user_limits_set(session, &open->grant);
    service_compile_limit(session, open->grant.user_compile);
    session->jobs.suspect_ns = open->suspect_ns;
    memory_limit_set(session, open->grant.mem_limit, open->grant.user_mem_limit);
    session->grant.link = open->grant;
    domain_join(session);
    return session;
}

/* Releases all that a session has on the device. Safe on a session that is only half open. */
static void release_device(struct session *session)
{
    reports_deinit(session);
    graphs_deinit(session);
    streams_deinit(session);
    textures_deinit(session);
    host_blocks_deinit(session); /* host blocks lie in the window, so they are released before it */
    chunks_deinit(session);
    window_deinit(session);
}

/* Releases what the session shares with its tenant. */
static void release_host(struct session *session)
{
    print_deinit(session);
    server_memory_deinit(session);
    driver_memory_deinit(session);
    user_release(session->memory.user);
    session->memory.user = NULL;
    segment_mapping_keep(session->mapping);
    allocations_deinit(&session->memory.allocations);
    /* The supervisor may read the session's totals until the slot gets another session. */
    atomic_store_explicit(&session->stats->memory_used, 0, memory_order_relaxed);
}

void session_deinit(struct session *session)
{
    release_device(session);
    release_host(session);
    modules_deinit(session);
}

void session_free(struct session *session)
{
    if (!session)
        return;
    journal_free(session->journal);
    resume_free(session->resume);
    pthread_mutex_destroy(&session->memory.sinks_lock);
    free(session);
}

/* ---- Open ------------------------------------------------------------------------------------ */

gs_status session_map(struct job *job)
{
    struct session *session = job->session;
    struct segment_mapping *mapping = segment_mapping_get(job, job->open.segment_id);

    if (!mapping)
        return job->status;
    session->mapping = mapping;
    session->segment = mapping->memory;
    session->client = (void *)(session->segment + SEG_OFF_CLIENT);
    session->server_page = (void *)(session->segment + SEG_OFF_SERVER);
    session->request = (void *)(session->segment + SEG_OFF_REQUEST);
    session->submit.complete = mapping->complete;
    return GS_OK;
}

static void open_work(struct job *job)
{
    struct session *session = job->session;

    if (session_map(job) == GS_OK && window_init(job) == GS_OK) {
        session->submit.streams[0].open = true;
        streams_adopt(session);
        session->journal = job->open.unkept ? NULL : journal_new(session->id, session->uid);
        session->positions = journal_positions(session->journal);
        return;
    }
    session_deinit(session);
}

void session_opened(const struct job *job)
{
    const struct session *session = job->session;
    struct link_message message = {.op = LINK_OPENED, .slot = session->slot};
    int descriptor = -1; /* of a new journal, which the supervisor does not have yet */

    if (job->status == GS_OK) {
        message.u.opened.window_base = session->memory.window_base;
        message.u.opened.window_size = session->memory.window_size;
        message.u.opened.mem_limit = memory_limits(session).session;
        message.u.opened.late = session->resume && session->resume->late;
        descriptor = job->open.resume ? -1 : journal_descriptor(session->journal);
    } else {
        message.u.opened.status = job->status;
        snprintf(message.text, sizeof(message.text), "%.190s", job->message);
    }
    link_send(&message, descriptor);
}

void session_taken_up(const struct session *session)
{
    const struct link_message message = {.op = LINK_TAKEN_UP, .slot = session->slot};

    link_send(&message, -1);
}

/* ---- Close ----------------------------------------------------------------------------------- */

static void close_work(struct job *job)
{
    kernel_strays_count(job->session); /* the last strays: the device has finished */
    release_device(job->session);
    release_host(job->session);
}

/* Releases the grant before LINK_CLOSED, so that the slot's next session finds these SMs free. */
static void close_install(struct job *job)
{
    struct link_message message = {.op = LINK_CLOSED, .slot = job->session->slot};

    session_table_remove(job->session);
    grant_deinit(job->session);
    link_send(&message, -1);
}

/* Unloading comes last, because the driver may make it wait for every kernel on the device. The
 * journal is freed here too: to unmap it takes as long as several launches, a delay that the main
 * lane must not have. */
static void unload_work(struct job *job)
{
    struct session *session = job->session;

    modules_deinit(session);
    journal_free(session->journal);
    session->journal = NULL;
    session->positions = NULL;
}

/* The other steps of these jobs are in route.c. */
const struct job_kind job_unload_all = {"unload_all", JOB_PATIENT, NULL, unload_work, NULL, NULL};
const struct job_kind job_open = {"open", JOB_QUICK, NULL, open_work, NULL, NULL};
const struct job_kind job_close = {"close",    JOB_SESSION_IDLE, NULL,
                                   close_work, close_install,    &job_unload_all};
