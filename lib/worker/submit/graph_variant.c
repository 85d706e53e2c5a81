/*
 * graph_variant.c - makes the records of a tenant's graph an executable graph: nodes, each of a
 * record that has passed its checks (record.c), one after the other unless a REC_AFTER says which
 * nodes a node waits for. A launch of the graph takes the driver a third of a microsecond for each
 * node, during which all tenants of the lane wait, so a graph has SEG_GRAPH_NODES nodes at most.
 */
#include "worker/submit/graph_variant.h"

#include <inttypes.h>
#include <stdlib.h>

#include "worker/jobs/job.h"
#include "worker/memory/driver_memory.h"
#include "worker/partition/partition.h"
#include "worker/submit/pool.h"

record_refusal graph_step_check(const struct session *session, unsigned char *record, uint32_t size,
                                struct graph_step *step)
{
    const struct rec_header *header = (const void *)record;

    step->is_launch = header->op == REC_LAUNCH;
    step->is_order = header->op == REC_AFTER;
    if (step->is_order)
        return size == sizeof(struct rec_after) &&
                       ((const struct rec_after *)(const void *)record)->count <= REC_AFTER_STEPS
                   ? NULL
                   : "an order of steps of a wrong size";
    if (step->is_launch && size >= sizeof(struct rec_launch)) {
        if (((const struct rec_launch *)(const void *)record)->report || header->flags)
            return "a launch in a graph that is cooperative, or has a report or a qos of its own";
        return record_check_launch(session, record, size, &step->launch);
    }
    if (header->op == REC_COPY && size == sizeof(struct rec_copy))
        return record_check_copy(session, (const void *)record, &step->transfer);
    if (header->op == REC_MEMSET && size == sizeof(struct rec_memset))
        return record_check_memset(session, (const void *)record, &step->transfer);
    return "a record that a graph cannot hold";
}

uint32_t graph_step_size(const struct graph_records *records, uint64_t offset)
{
    const struct rec_header *header = (const void *)(records->memory + offset);

    if (records->bytes - offset < REC_ALIGN || header->size < REC_ALIGN ||
        header->size % REC_ALIGN || header->size > records->bytes - offset ||
        header->size > REC_SIZE_MAX)
        return 0;
    return header->size;
}

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

static CUresult kernel_add(const struct graph_variant *variant, const struct graph_step *step,
                           const CUgraphNode *after, size_t count, CUgraphNode *node)
{
    void *pointers[LAUNCH_POINTERS];
    CUDA_KERNEL_NODE_PARAMS params;

    launch_params(&step->launch, &completion_none, pointers, &params);
    partition_enter(variant->partition);
    CUresult result = DRV(cuGraphAddKernelNode_v2, node, variant->graph, after, count, &params);
    if (!result && variant->priority != STREAM_PRIORITY)
        result = node_prioritize(*node, variant->priority);
    partition_enter(NULL);
    return result;
}

static CUresult node_add(const struct graph_variant *variant, const struct graph_step *step,
                         const CUgraphNode *after, size_t count, CUgraphNode *node)
{
    CUgraph graph = variant->graph;

    if (step->is_launch)
        return kernel_add(variant, step, after, count, node);
    if (step->transfer.kind == TRANSFER_SET) {
        const struct transfer *set = &step->transfer;
        const uint32_t low = UINT32_MAX >> (32 - 8 * set->element); /* the driver takes no more */
        const CUDA_MEMSET_NODE_PARAMS params = {.dst = set->dst,
                                                .value = set->value & low,
                                                .elementSize = set->element,
                                                .width = set->bytes / set->element,
                                                .height = 1};
        return DRV(cuGraphAddMemsetNode, node, graph, after, count, &params, worker->context);
    }
    const CUDA_MEMCPY3D params = memcpy_params(&step->transfer);
    return DRV(cuGraphAddMemcpyNode, node, graph, after, count, &params, worker->context);
}

/* What the next node waits for. */
struct order {
    CUgraphNode node[SEG_GRAPH_NODES], after[SEG_GRAPH_NODES];
    uint32_t named[SEG_GRAPH_NODES]; /* by node: 1 + the last node that waits for it by name */
    uint32_t nodes, count, edges;
    bool given; /* a REC_AFTER says for what; else it waits for the node before */
};

static record_refusal order_take(struct order *order, const struct rec_after *record)
{
    order->given = true;
    for (uint32_t i = 0; i < record->count; i++) {
        const uint32_t step = record->step[i];

        if (step >= order->nodes)
            return "a step that waits for a later one";
        if (order->named[step] == order->nodes + 1)
            return "a step that waits for another one twice";
        if (order->edges++ == SEG_GRAPH_EDGES)
            return "too many steps that wait for others";
        order->named[step] = order->nodes + 1;
        order->after[order->count++] = order->node[step];
    }
    return NULL;
}

/* Adds the node of a record other than a REC_AFTER. */
static CUresult order_add(struct order *order, const struct graph_variant *variant,
                          const struct graph_step *step)
{
    CUresult result;

    if (!order->given && order->nodes)
        order->after[order->count++] = order->node[order->nodes - 1];
    result = node_add(variant, step, order->after, order->count, &order->node[order->nodes]);
    order->nodes++;
    order->count = 0;
    order->given = false;
    return result;
}

static gs_status nodes_add_in_order(struct job *job, const struct graph_records *records,
                                    const struct graph_variant *variant, struct order *order)
{
    for (uint64_t offset = 0; offset < records->bytes;) {
        uint32_t size = graph_step_size(records, offset);
        unsigned char *record = records->memory + offset;
        struct graph_step step;
        CUresult result;
        record_refusal refusal =
            size ? graph_step_check(job->session, record, size, &step) : "a record of a wrong size";

        if (!refusal && step.is_order)
            refusal = order_take(order, (const void *)record);
        if (refusal)
            return job_fail(job, GS_ERR_INVALID_VALUE, "%s at byte %" PRIu64 " of a graph", refusal,
                            offset);
        offset += size;
        if (step.is_order)
            continue;
        if (order->nodes == SEG_GRAPH_NODES)
            return job_fail(job, GS_ERR_LIMIT, "a graph of more than %u records", SEG_GRAPH_NODES);
        if ((result = order_add(order, variant, &step)))
            return job_fail_driver(job, result);
    }
    return GS_OK;
}

static gs_status nodes_add(struct job *job, const struct graph_records *records,
                           const struct graph_variant *variant, uint32_t *count)
{
    struct order *order = calloc(1, sizeof(*order));
    gs_status status = order ? nodes_add_in_order(job, records, variant, order)
                             : job_fail(job, GS_ERR_NO_MEMORY, "no memory for a graph");

    *count = order ? order->nodes : 0;
    free(order);
    return status;
}

/* Charges the session for the variant. */
static gs_status variant_charge(struct job *job, struct graph_variant *variant, uint32_t nodes)
{
    const uint64_t bytes = DRIVER_GRAPH + nodes * DRIVER_NODE;

    if (job->kind->flags & JOB_CHORE)
        driver_memory_adopt(job->session, bytes);
    else if (driver_memory_charge_job(job, bytes) != GS_OK)
        return job->status;
    variant->bytes = bytes;
    return GS_OK;
}

void graph_variant_deinit(struct session *session, struct graph_variant *variant)
{
    driver_memory_discharge(session, variant->bytes);
    if (variant->exec)
        DRV_MUST(cuGraphExecDestroy, variant->exec);
    if (variant->graph)
        DRV_MUST(cuGraphDestroy, variant->graph);
    if (variant->graph && variant->partition)
        /* release: publishes that the graph is gone; pairs with the look before the partition is
         * destroyed */
        atomic_fetch_sub_explicit(&variant->partition->graphs, 1, memory_order_release);
    *variant = (struct graph_variant){0};
}

gs_status graph_variant_make(struct job *job, const struct graph_records *records,
                             struct partition *partition, int priority,
                             struct graph_variant *variant)
{
    CUresult result = DRV(cuGraphCreate, &variant->graph, 0);
    uint32_t nodes = 0;

    if (result)
        return job_fail_driver(job, result);
    variant->partition = partition;
    variant->priority = priority;
    if (partition)
        atomic_fetch_add_explicit(&partition->graphs, 1, memory_order_relaxed);
    if (nodes_add(job, records, variant, &nodes) == GS_OK &&
        variant_charge(job, variant, nodes) == GS_OK) {
        pool_give_graph();
        result =
            DRV(cuGraphInstantiateWithFlags, &variant->exec, variant->graph,
                priority == STREAM_PRIORITY ? 0 : CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
        if (result)
            job_fail_driver(job, result);
    }
    if (job->status != GS_OK)
        graph_variant_deinit(job->session, variant);
    return job->status;
}
