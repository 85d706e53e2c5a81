/*
 * graph.c - the graphs that a tenant has recorded (gs_graph_begin ... gs_graph_end): their table,
 * their variants, and their launches.
 *
 * The client sends the records that it would otherwise have put into a ring. A service thread makes
 * an executable graph of them (graph_variant.c), reading the session's tables while its job runs;
 * the main lane launches it.
 *
 * A graph names device addresses, host blocks and kernels. Some of these may be freed later, so the
 * worker keeps the records too, and checks them again before a launch if anything was freed since
 * (graph_check.c).
 *
 * A kernel's node runs in the partition that was current when the node was added. So a graph has a
 * variant for each of the last few partitions and priorities that the session's launches had. A
 * wider window (memory/window.h) needs new variants too. A chore makes a new variant, and destroys
 * the one that it replaces; only the stream that launches the graph waits for the chore.
 */
#include "worker/submit/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/host_block.h"
#include "worker/memory/server_memory.h"
#include "worker/memory/window.h"
#include "worker/sched/lane.h"
#include "worker/submit/graph_check.h"
#include "worker/submit/graph_variant.h"
#include "worker/submit/placement.h"

#define GRAPH_BYTES_MAX (UINT64_C(64) << 20)

/* The server memory that a graph counts as, as a multiple of its records' size: the copies of them
 * here, in each variant and in the journal, and what the driver keeps for each node, about 1 KiB
 * for a record of 64 bytes. */
#define SERVER_TIMES 16u

#define VARIANTS 4u
#define NODE_NS  500u /* the lane's time per node: setting it takes 160 ns, launching it 330 */

struct session_graph {
    struct graph_variant variants[VARIANTS];
    uint64_t clock;
    /* The state of the chore that makes a variant. */
    bool making;
    struct graph_variant replaced; /* first the variant that is replaced, then the new one */
    struct graph_changes wanted;   /* the changes with which the variant is made; owned */
    struct {
        uint32_t stream;
        uint64_t position;
    } launch;          /* the launch for which the variant is made */
    gs_status trouble; /* why the variant could not be made */
    char text[192];
    struct graph_records records;
    struct graph_check check;
    /* some of its kernels run in clusters, for which a trimmed partition may be too small */
    bool in_clusters;
};

/* ---- Making ---------------------------------------------------------------------------------- */

/* Makes a graph from a copy of the records, without a variant. NULL: the job has failed. */
static struct session_graph *graph_new(struct job *job, const void *records, uint64_t bytes)
{
    struct session_graph *graph = calloc(1, sizeof(*graph));

    if (!graph)
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for a graph of %" PRIu64 " bytes", bytes);
    else if (graph_records_init(job, &graph->records, records, bytes) == GS_OK)
        return graph;
    free(graph);
    return NULL;
}

static void variants_deinit(struct session *session, struct session_graph *graph)
{
    for (uint32_t i = 0; i < VARIANTS; i++)
        graph_variant_deinit(session, &graph->variants[i]);
}

static void wanted_free(struct session_graph *graph)
{
    free((void *)(uintptr_t)graph->wanted.bytes);
    graph->wanted = (struct graph_changes){0};
}

static void graph_free(struct session *session, struct session_graph *graph)
{
    if (!graph)
        return;
    server_memory_discharge(session, SERVER_TIMES * graph->records.bytes);
    variants_deinit(session, graph);
    graph_variant_deinit(session, &graph->replaced);
    graph_records_deinit(&graph->records);
    wanted_free(graph);
    free(graph);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static gs_status table_make(struct job *job)
{
    struct session_submit *submit = &job->session->submit;

    if (!submit->graphs)
        submit->graphs = calloc(SEG_GRAPHS, sizeof(struct session_graph *));
    return submit->graphs ? GS_OK
                          : job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of graphs");
}

static void create_prepare(struct job *job)
{
    struct session *session = job->session;
    const struct host_block *block = host_block_find(session, job->arg[0]);

    if (!block || job->arg[1] > block->size || job->arg[1] > GRAPH_BYTES_MAX ||
        job->arg[1] % REC_ALIGN) {
        job_fail(job, GS_ERR_INVALID_VALUE,
                 "%" PRIu64 " bytes of records are not in the host block given", job->arg[1]);
        return;
    }
    if (table_make(job) != GS_OK)
        return;
    for (job->index = 0; job->index < SEG_GRAPHS && session->submit.graphs[job->index];)
        job->index++;
    if (job->index == SEG_GRAPHS) {
        job_fail(job, GS_ERR_LIMIT, "the session has %u graphs, the limit", SEG_GRAPHS);
        return;
    }
    job->partition = session->grant.partition;
    partition_hold(job->partition);
}

static void create_work(struct job *job)
{
    const struct host_block *block = host_block_find(job->session, job->arg[0]);
    struct session_graph *graph;

    if (server_memory_charge(job, SERVER_TIMES * job->arg[1]) != GS_OK)
        return;
    graph = graph_new(job, block->memory, job->arg[1]);
    if (!graph) {
        server_memory_discharge(job->session, SERVER_TIMES * job->arg[1]);
        return;
    }
    graph->check = graph_check_of_new(job->session);
    if (graph_variant_make(job, &graph->records, &(struct graph_changes){0}, job->partition,
                           STREAM_PRIORITY, &graph->variants[0]) != GS_OK) {
        graph_free(job->session, graph);
        return;
    }
    graph->in_clusters = graph->variants[0].in_clusters;
    job->object = graph;
    job->ret[0] = job->index;
    const uint64_t value[JOURNAL_VALUES] = {graph->check.made_serial};
    job_makes(job, JOURNAL_GRAPH, job->index);
    journal_put(job->session->journal, JOURNAL_GRAPH, job->index, value, graph->records.memory,
                graph->records.bytes);
}

static void create_install(struct job *job)
{
    struct session_graph *graph = job->object;

    graph->variants[0].used = ++graph->clock;
    job->session->submit.graphs[job->index] = graph;
}

static void destroy_prepare(struct job *job)
{
    struct session *session = job->session;

    job->object = session->submit.graphs && job->arg[0] < SEG_GRAPHS
                      ? session->submit.graphs[job->arg[0]]
                      : NULL;
    if (!job->object)
        job_fail(job, GS_ERR_INVALID_HANDLE, "graph %" PRIu64 " does not exist", job->arg[0]);
    job->at_once = job->arg[1] == SEG_FREE_BESIDE;
}

static void destroy_work(struct job *job)
{
    if (job->status != GS_OK) /* the session has work, and the tenant did not want to wait */
        return;
    job_removes(job, JOURNAL_GRAPH, job->arg[0]);
    journal_remove(job->session->journal, JOURNAL_GRAPH, job->arg[0]);
    graph_free(job->session, job->object);
}

static void destroy_install(struct job *job)
{
    job->session->submit.graphs[job->arg[0]] = NULL;
}

const struct job_kind job_graph_create = {"graph_create", JOB_PATIENT,    create_prepare,
                                          create_work,    create_install, NULL};
const struct job_kind job_graph_destroy = {"graph_destroy", JOB_SESSION_IDLE, destroy_prepare,
                                           destroy_work,    destroy_install,  NULL};

/* ---- Variants -------------------------------------------------------------------------------- */

static struct session_graph *graph_find(const struct session *session, uint64_t number)
{
    return session->submit.graphs && number < SEG_GRAPHS ? session->submit.graphs[number] : NULL;
}

/* Returns the slot for the next variant: one that is empty or whose variant no driver call can set
 * for a launch, otherwise the one whose variant was launched longest ago. */
static uint32_t slot_choose(const struct session_graph *graph)
{
    uint32_t chosen = 0;

    for (uint32_t i = 1; i < VARIANTS; i++) {
        if (graph->variants[i].used < graph->variants[chosen].used)
            chosen = i;
    }
    return chosen;
}

/* Returns the partition for the graph's next variant. */
static struct partition *graph_placement(struct session *session, const struct session_graph *graph,
                                         uint32_t cls)
{
    return graph->in_clusters ? session->grant.partition : placement_of(session, cls);
}

/* Finds the graph and its partition, and takes the variant to be replaced out of its slot. arg[1]:
 * the graph's number; arg[2]: the priority of its kernels; arg[3]: their class. By now, the number
 * may be that of a newer graph that waits for no chore. The chore must not run for it, because the
 * lane writes `wanted` while `making` is not set. */
static void variant_prepare(struct job *job)
{
    struct session_graph *graph = graph_find(job->session, job->arg[1]);

    job->object = graph;
    if (!graph || !graph->making) {
        job->session->submit.making_variant = false;
        job_fail(job, GS_ERR_INVALID_HANDLE, "graph %" PRIu64 " is gone", job->arg[1]);
        return;
    }
    job->index = slot_choose(graph);
    graph->replaced = graph->variants[job->index];
    graph->variants[job->index] = (struct graph_variant){0};
    job->partition = graph_placement(job->session, graph, (uint32_t)job->arg[3]);
    partition_hold(job->partition);
}

/* Makes the variant. A failure is reported to the waiting stream, so the job itself succeeds. */
static void variant_work(struct job *job)
{
    struct session_graph *graph = job->object;

    graph_variant_deinit(job->session, &graph->replaced);
    graph_variant_make(job, &graph->records, &graph->wanted, job->partition, (int)job->arg[2],
                       &graph->replaced);
    job->ret[0] = (uint64_t)job->status;
    job->status = GS_OK;
}

static void variant_install(struct job *job)
{
    struct session_graph *graph = job->object;

    graph->making = job->session->submit.making_variant = false;
    wanted_free(graph);
    graph->trouble = (gs_status)job->ret[0];
    snprintf(graph->text, sizeof(graph->text), "%.190s", job->message);
    if (graph->trouble != GS_OK)
        return;
    graph->variants[job->index] = graph->replaced;
    graph->in_clusters |= graph->replaced.in_clusters;
    graph->variants[job->index].used = ++graph->clock;
    graph->replaced = (struct graph_variant){0};
}

static const struct job_kind job_variant = {
    "graph_variant", JOB_PATIENT | JOB_CHORE, variant_prepare, variant_work, variant_install, NULL};

/* Notes the changes with which the chore shall make the variant. Returns false without memory. */
static bool wanted_note(struct session_graph *graph, const struct graph_changes *changes)
{
    unsigned char *bytes = malloc(changes->size ? changes->size : 1);

    if (!bytes)
        return false;
    memcpy(bytes, changes->bytes, changes->size);
    wanted_free(graph);
    graph->wanted = (struct graph_changes){.bytes = bytes, .size = changes->size};
    return true;
}

/* Begins the chore that makes a variant for the launch at the stream's head. If memory is lacking,
 * the next round tries again. It also does while another such chore of the session is under way,
 * since a session has one job at a time and the main lane looks at all waiting chores. */
static void variant_begin(struct session *session, uint32_t index, struct session_graph *graph,
                          const struct rec_graph *record, const struct graph_changes *changes,
                          int priority)
{
    const struct stream *stream = &session->submit.streams[index];
    struct job *job = job_new_chore(session, &job_variant);

    if (!job || !wanted_note(graph, changes)) {
        job_free(job);
        return;
    }
    job->arg[1] = record->graph;
    job->arg[2] = (uint64_t)(int64_t)priority;
    job->arg[3] = stream->cls;
    graph->making = session->submit.making_variant = true;
    graph->trouble = GS_OK;
    graph->launch.stream = index;
    graph->launch.position = stream->head;
    job_return(job);
}

/* Makes the graph of a journal entry. It has no variant yet; its records are checked at its first
 * launch. */
static gs_status graph_resume(struct job *job, const struct journal_entry *entry)
{
    struct session_graph *graph = graph_new(job, entry->bytes, entry->size);

    if (!graph)
        return job->status;
    server_memory_adopt(job->session, SERVER_TIMES * entry->size);
    graph->check = graph_check_of_old(entry->value[0]);
    if (entry->value[0] > job->session->serial) /* objects made from now on get newer serials */
        job->session->serial = entry->value[0];
    job->session->submit.graphs[entry->key] = graph;
    return GS_OK;
}

gs_status graphs_resume(struct job *job)
{
    for (const struct journal_entry *e = NULL; (e = journal_next(job->session->journal, e));) {
        if (e->kind != JOURNAL_GRAPH)
            continue;
        if (e->key >= SEG_GRAPHS || table_make(job) != GS_OK || job->session->submit.graphs[e->key])
            return job_fail(job, GS_ERR_INTERRUPTED, "a graph has no slot in its table");
        if (graph_resume(job, e) != GS_OK)
            return job->status;
    }
    return GS_OK;
}

void graphs_evict(struct session *session, const struct partition *partition)
{
    for (uint32_t i = 0; session->submit.graphs && i < SEG_GRAPHS; i++) {
        struct session_graph *graph = session->submit.graphs[i];
        for (uint32_t n = 0; graph && n < VARIANTS; n++) {
            if (graph->variants[n].partition == partition)
                graph_variant_deinit(session, &graph->variants[n]);
        }
    }
}

void graphs_renew(struct session *session)
{
    for (uint32_t i = 0; session->submit.graphs && i < SEG_GRAPHS; i++) {
        if (session->submit.graphs[i])
            variants_deinit(session, session->submit.graphs[i]);
    }
}

void graphs_deinit(struct session *session)
{
    for (uint32_t i = 0; session->submit.graphs && i < SEG_GRAPHS; i++)
        graph_free(session, session->submit.graphs[i]);
    free(session->submit.graphs);
    session->submit.graphs = NULL;
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Reads and checks the changes that follow the record. */
static record_refusal changes_read(const struct session_graph *graph,
                                   const struct rec_graph *record, struct graph_changes *changes)
{
    if (record->changes > record->h.size - sizeof(*record))
        return "a graph with changes beyond its record";
    *changes = (struct graph_changes){.bytes = (const unsigned char *)(record + 1),
                                      .size = record->changes};
    return graph_changes_check(&graph->records, changes);
}

static struct graph_variant *variant_find(const struct session *session,
                                          struct session_graph *graph,
                                          const struct partition *partition, int priority)
{
    const uint64_t window = window_open_size(session);

    for (uint32_t i = 0; i < VARIANTS; i++) {
        struct graph_variant *variant = &graph->variants[i];
        if (variant->exec && variant->used && variant->partition == partition &&
            variant->priority == priority && variant->window == window)
            return variant;
    }
    return NULL;
}

/* Returns whether the chore failed to make a variant for the launch at the stream's head. */
static bool launch_failed(const struct session *session, uint32_t index,
                          const struct session_graph *graph)
{
    return graph->trouble != GS_OK && graph->launch.stream == index &&
           graph->launch.position == session->submit.streams[index].head;
}

/* Sets and launches an existing variant. Returns false if the variant must be made anew. */
static bool variant_launch(struct session *session, struct session_graph *graph,
                           struct graph_variant *variant, CUstream stream,
                           const struct graph_changes *changes, CUresult *result,
                           record_refusal *refusal)
{
    variant->used = ++graph->clock;
    *result = CUDA_SUCCESS;
    switch (graph_variant_set(session, &graph->records, changes, variant, result, refusal)) {
    case VARIANT_SET:
        *result = DRV(cuGraphLaunch, variant->exec, stream);
        return true;
    case VARIANT_REFUSED:
        return true;
    default:
        return driver_fatal(*result);
    }
}

uint64_t graph_lane_ns(const struct session *session, const struct rec_graph *record)
{
    const struct session_graph *graph = graph_find(session, record->graph);

    return graph ? (uint64_t)graph->records.steps * NODE_NS : 0;
}

enum outcome graph_launch(struct session *session, uint32_t index, const struct rec_graph *record)
{
    const struct stream *stream = &session->submit.streams[index];
    int priority = stream->priority == stream->cu_priority ? STREAM_PRIORITY : stream->priority;
    struct session_graph *graph = graph_find(session, record->graph);
    struct graph_changes changes;
    record_refusal refusal;
    CUresult result;

    if (!graph)
        return record_rejected(session, index, "a graph that does not exist");
    struct graph_variant *variant =
        variant_find(session, graph, graph_placement(session, graph, stream->cls), priority);
    /* Each round tries again, so the changes, of which there may be many, are not read yet. */
    if (!variant && session->submit.making_variant)
        return RECORD_STALLED;
    refusal = changes_read(graph, record, &changes);
    if (refusal)
        return record_rejected(session, index, refusal);
    if (!graph_check_done(session, &graph->check, &graph->records, &graph->in_clusters))
        return RECORD_STALLED;
    refusal = graph_check_refusal(&graph->check, &changes);
    if (refusal)
        return record_rejected(session, index, refusal);
    if (variant && variant_launch(session, graph, variant, stream->cu, &changes, &result, &refusal))
        return refusal ? record_rejected(session, index, refusal)
                       : record_issued(session, index, result);
    if (variant)
        /* the chore destroys this variant, because that may take the driver long */
        variant->used = 0;
    if (launch_failed(session, index, graph))
        return record_impossible(session, index, graph->trouble, NULL, graph->text);
    if (!session->submit.making_variant)
        variant_begin(session, index, graph, record, &changes, priority);
    return RECORD_STALLED;
}
