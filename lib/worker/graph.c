/*
 * graph.c - graphs that a tenant has recorded (gs_graph_begin ... gs_graph_end).
 *
 * The client sends the records that it would have put into a ring; they become a chain of nodes of
 * one executable graph. Made by a service thread (which may read the session's tables while its job
 * runs), launched by the dispatcher.
 *
 * A graph keeps device addresses, host blocks and kernels. Something of that may be freed later, so
 * the worker keeps the records too, and checks them again before a launch if anything was freed
 * since.
 */
#include "worker/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/ring.h"
#include "worker/host.h"
#include "worker/job.h"

#define GRAPH_BYTES_MAX (UINT64_C(64) << 20)

struct session_graph {
    CUgraph graph;
    CUgraphExec exec;
    unsigned char *records;
    uint64_t bytes;
    uint64_t checked_generation; /* session->table_generation when the records were last checked */
    uint64_t made_serial; /* session->serial when it was made: what is newer is not what it holds */
};

/* ---- Checking -------------------------------------------------------------------------------- */

/* One record of a graph, checked. */
struct step {
    bool is_launch;
    struct launch launch;
    struct transfer transfer;
};

static record_fault step_check(const struct session *session, unsigned char *record, uint32_t size,
                               struct step *step)
{
    const struct rec_header *header = (const void *)record;

    step->is_launch = header->op == REC_LAUNCH;
    if (step->is_launch && size >= sizeof(struct rec_launch)) {
        if (((const struct rec_launch *)(const void *)record)->report)
            return "a launch with a report in a graph";
        return record_check_launch(session, record, size, &step->launch);
    }
    if (header->op == REC_COPY && size == sizeof(struct rec_copy))
        return record_check_copy(session, (const void *)record, &step->transfer);
    if (header->op == REC_MEMSET && size == sizeof(struct rec_memset))
        return record_check_memset(session, (const void *)record, &step->transfer);
    return "a record that a graph cannot hold";
}

/* The record at `offset`; 0 when its size is impossible. */
static uint32_t step_size(const struct session_graph *graph, uint64_t offset)
{
    const struct rec_header *header = (const void *)(graph->records + offset);

    if (graph->bytes - offset < REC_ALIGN || header->size < REC_ALIGN || header->size % REC_ALIGN ||
        header->size > graph->bytes - offset || header->size > REC_SIZE_MAX)
        return 0;
    return header->size;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static CUDA_MEMCPY3D memcpy_params(const struct transfer *t)
{
    return (CUDA_MEMCPY3D){
        .srcMemoryType = t->kind == TRANSFER_HTOD ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .srcHost = t->kind == TRANSFER_HTOD ? t->host : NULL,
        .srcDevice = t->kind == TRANSFER_HTOD ? 0 : t->src,
        .dstMemoryType = t->kind == TRANSFER_DTOH ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstHost = t->kind == TRANSFER_DTOH ? t->host : NULL,
        .dstDevice = t->kind == TRANSFER_DTOH ? 0 : t->dst,
        .WidthInBytes = t->bytes,
        .Height = 1,
        .Depth = 1,
    };
}

static CUresult node_add(CUgraph graph, const struct step *step, const CUgraphNode *last,
                         CUgraphNode *node)
{
    size_t dependencies = last ? 1 : 0;

    if (step->is_launch) {
        void *pointers[REQ_PARAMS_MAX];
        CUDA_KERNEL_NODE_PARAMS params;
        launch_params(&step->launch, pointers, &params);
        return DRV(cuGraphAddKernelNode_v2, node, graph, last, dependencies, &params);
    }
    if (step->transfer.kind == TRANSFER_SET) {
        const CUDA_MEMSET_NODE_PARAMS params = {.dst = step->transfer.dst,
                                                .value = step->transfer.value,
                                                .elementSize = 1,
                                                .width = step->transfer.bytes,
                                                .height = 1};
        return DRV(cuGraphAddMemsetNode, node, graph, last, dependencies, &params, worker.context);
    }
    const CUDA_MEMCPY3D params = memcpy_params(&step->transfer);
    return DRV(cuGraphAddMemcpyNode, node, graph, last, dependencies, &params, worker.context);
}

static gs_status build(struct job *job, struct session_graph *graph)
{
    CUgraphNode last = NULL, node;
    CUresult result;

    for (uint64_t offset = 0; offset < graph->bytes;) {
        uint32_t size = step_size(graph, offset);
        struct step step;
        record_fault fault = size ? step_check(job->session, graph->records + offset, size, &step)
                                  : "a record of a wrong size";
        if (fault)
            return job_fail(job, GS_ERR_INVALID_VALUE, "%s at byte %" PRIu64 " of a graph", fault,
                            offset);
        if ((result = node_add(graph->graph, &step, last ? &last : NULL, &node)))
            return job_fail_driver(job, result);
        last = node;
        offset += size;
    }
    result = DRV(cuGraphInstantiateWithFlags, &graph->exec, graph->graph, 0);
    return result ? job_fail_driver(job, result) : GS_OK;
}

static void graph_free(struct session_graph *graph)
{
    if (!graph)
        return;
    if (graph->exec)
        DRV_MUST(cuGraphExecDestroy, graph->exec);
    if (graph->graph)
        DRV_MUST(cuGraphDestroy, graph->graph);
    free(graph->records);
    free(graph);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void create_prepare(struct job *job)
{
    struct session *session = job->session;
    const struct host_block *block = host_find(session, job->arg[0]);

    if (!block || job->arg[1] > block->size || job->arg[1] > GRAPH_BYTES_MAX ||
        job->arg[1] % REC_ALIGN) {
        job_fail(job, GS_ERR_INVALID_VALUE,
                 "%" PRIu64 " bytes of records are not in the host block given", job->arg[1]);
        return;
    }
    if (!session->graphs)
        session->graphs = calloc(SEG_GRAPHS, sizeof(*session->graphs));
    if (!session->graphs) {
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of graphs");
        return;
    }
    for (job->index = 0; job->index < SEG_GRAPHS && session->graphs[job->index];)
        job->index++;
    if (job->index == SEG_GRAPHS)
        job_fail(job, GS_ERR_LIMIT, "the session has %u graphs, the limit", SEG_GRAPHS);
}

static void create_work(struct job *job)
{
    const struct host_block *block = host_find(job->session, job->arg[0]);
    struct session_graph *graph = calloc(1, sizeof(*graph));
    CUresult result;

    if (graph)
        graph->records = malloc(job->arg[1] ? job->arg[1] : 1);
    if (!graph || !graph->records) {
        free(graph);
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for a graph of %" PRIu64 " bytes", job->arg[1]);
        return;
    }
    memcpy(graph->records, block->memory, job->arg[1]);
    graph->bytes = job->arg[1];
    graph->checked_generation = job->session->table_generation;
    graph->made_serial = job->session->serial;
    if ((result = DRV(cuGraphCreate, &graph->graph, 0))) {
        job_fail_driver(job, result);
        graph_free(graph);
        return;
    }
    if (build(job, graph) != GS_OK) {
        graph_free(graph);
        return;
    }
    job->object = graph;
    job->ret[0] = job->index;
}

static void create_install(struct job *job)
{
    job->session->graphs[job->index] = job->object;
}

static void destroy_prepare(struct job *job)
{
    struct session *session = job->session;

    job->object = session->graphs && job->arg[0] < SEG_GRAPHS ? session->graphs[job->arg[0]] : NULL;
    if (!job->object)
        job_fail(job, GS_ERR_INVALID_HANDLE, "graph %" PRIu64 " does not exist", job->arg[0]);
    else
        session->graphs[job->arg[0]] = NULL;
}

static void destroy_work(struct job *job)
{
    graph_free(job->object);
}

const struct job_kind job_graph_create = {"graph_create", JOB_PATIENT,    create_prepare,
                                          create_work,    create_install, NULL};
const struct job_kind job_graph_destroy = {"graph_destroy", JOB_QUIESCE, destroy_prepare,
                                           destroy_work,    NULL,        NULL};

void graphs_close(struct session *session)
{
    for (uint32_t i = 0; session->graphs && i < SEG_GRAPHS; i++)
        graph_free(session->graphs[i]);
    free(session->graphs);
    session->graphs = NULL;
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Is what a step uses still what it was when the graph was made? Numbers are used again. */
static bool step_same(const struct session *session, const struct session_graph *graph,
                      const struct step *step)
{
    if (step->is_launch)
        return step->launch.kernel->serial <= graph->made_serial;
    return step->transfer.block == SEG_HOSTS ||
           session->hosts[step->transfer.block]->serial <= graph->made_serial;
}

static record_fault check_again(const struct session *session, struct session_graph *graph)
{
    for (uint64_t offset = 0; offset < graph->bytes;) {
        uint32_t size = step_size(graph, offset);
        struct step step;
        record_fault fault = step_check(session, graph->records + offset, size, &step);
        if (fault)
            return fault;
        if (!step_same(session, graph, &step))
            return "a graph of a kernel or host memory that is gone";
        offset += size;
    }
    graph->checked_generation = session->table_generation;
    return NULL;
}

record_fault graph_launch(struct session *session, uint32_t index, uint32_t number,
                          CUresult *result)
{
    struct session_graph *graph =
        session->graphs && number < SEG_GRAPHS ? session->graphs[number] : NULL;

    if (!graph)
        return "a graph that does not exist";
    record_fault fault =
        graph->checked_generation != session->table_generation ? check_again(session, graph) : NULL;
    if (!fault)
        *result = DRV(cuGraphLaunch, graph->exec, session->streams[index].cu);
    return fault;
}
