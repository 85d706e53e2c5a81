/*
 * graph_variant.c - makes executable graphs from the records of a tenant's graph. Each node is made
 * from a record that has passed its checks (record.c). The nodes run one after the other, unless a
 * REC_AFTER names the nodes for which a node waits. A programmatic dependent launch may begin, and
 * end, before the launch for which it waits has ended. Nothing within the graph signals the graph's
 * end: the graph ends when all its nodes have ended, whatever their edges (fact 44), and what
 * follows in the stream waits for that. Launching the graph takes the driver a third of a
 * microsecond per node, during which all tenants of the lane wait, so a graph has SEG_GRAPH_NODES
 * nodes at most.
 *
 * Before a launch, the nodes are set to the launch's changes (graph_record.c). They keep these
 * settings until a launch needs others. Setting a node takes the driver 0.16 us, about as long as
 * launching it, so only nodes that differ are set. If the driver cannot set a node as wanted, the
 * variant is made anew with the launch's changes. The same is done if a node that must be set or
 * left out names something that is gone, since the driver's behaviour for such a node is not
 * documented.
 */
#include "worker/submit/graph_variant.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/ring.h"
#include "worker/jobs/job.h"
#include "worker/memory/driver_memory.h"
#include "worker/memory/window.h"
#include "worker/partition/partition.h"
#include "worker/submit/pool.h"

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

static CUDA_MEMSET_NODE_PARAMS memset_params(const struct transfer *set)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = set->dst,
        /* the driver accepts no more bits */
        .value = set->value & UINT32_MAX >> (32 - 8 * set->element),
        .elementSize = set->element,
        .width = set->bytes / set->element,
        .height = 1,
    };
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Allocates the state of the steps, and sets the records to those of the first launch. */
static gs_status variant_storage(struct job *job, struct graph_variant *variant,
                                 const struct graph_records *records,
                                 const struct graph_changes *changes)
{
    variant->set = malloc(records->bytes ? records->bytes : 1);
    variant->steps = calloc(records->steps + 1, sizeof(*variant->steps));
    variant->changed = calloc(records->steps + 1, sizeof(*variant->changed));
    if (!variant->set || !variant->steps || !variant->changed)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for a graph");
    memcpy(variant->set, records->memory, records->bytes);
    for (uint32_t at = 0, step; (step = graph_change_step(changes, at)) != NO_STEP;) {
        bool off;

        at = graph_change_apply(changes, at, variant->set + records->offset[step], &off);
        variant->steps[step].state = off ? NODE_EMPTY : NODE_ON;
        variant->changed[variant->changed_count++] = (uint16_t)step;
    }
    return GS_OK;
}

/* Adds a kernel's node. early: the node may begin before the only node for which it waits has
 * ended. */
static CUresult kernel_add(const struct graph_variant *variant, const struct graph_step *step,
                           const CUgraphNode *after, size_t count, bool early, CUgraphNode *node)
{
    void *pointers[LAUNCH_POINTERS];
    CUDA_KERNEL_NODE_PARAMS params;

    launch_params(&step->launch, &completion_none, pointers, &params);
    partition_enter(variant->partition);
    CUresult result = DRV(cuGraphAddKernelNode_v2, node, variant->graph, early ? NULL : after,
                          early ? 0 : count, &params);
    if (!result && early)
        result = node_follow(variant->graph, after[0], *node);
    if (!result && variant->priority != STREAM_PRIORITY)
        result = node_prioritize(*node, variant->priority);
    if (!result && step->launch.cluster[0])
        result = node_cluster(*node, step->launch.cluster);
    partition_enter(NULL);
    return result;
}

static CUresult node_add(const struct graph_variant *variant, const struct graph_step *step,
                         const CUgraphNode *after, size_t count, bool early, CUgraphNode *node)
{
    CUgraph graph = variant->graph;

    if (step->is_launch)
        return kernel_add(variant, step, after, count, early, node);
    if (step->transfer.kind == TRANSFER_SET) {
        const CUDA_MEMSET_NODE_PARAMS params = memset_params(&step->transfer);
        return DRV(cuGraphAddMemsetNode, node, graph, after, count, &params, worker->context);
    }
    const CUDA_MEMCPY3D params = memcpy_params(&step->transfer);
    return DRV(cuGraphAddMemcpyNode, node, graph, after, count, &params, worker->context);
}

/* Collects the nodes for which the next node waits. */
struct order {
    struct graph_variant *variant;
    CUgraphNode after[SEG_GRAPH_NODES];
    /* for each node: 1 + the last node that names it to wait for it */
    uint32_t named[SEG_GRAPH_NODES];
    uint32_t nodes, count, edges;
    uint32_t last; /* the step of the last node in `after` */
    /* a REC_AFTER names the nodes; otherwise the next node waits for the one before it */
    bool given;
};

/* Makes the next node wait for this step's node. */
static void order_name(struct order *order, uint32_t step)
{
    order->after[order->count++] = order->variant->steps[step].node;
    order->last = step;
}

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
        order_name(order, step);
    }
    return NULL;
}

/* Returns whether the step may begin early: it is a programmatic dependent launch that waits for
 * only one launch. One that waits for more waits until all of them have ended, which CUDA
 * allows. */
static bool order_is_early(const struct order *order, const struct graph_step *step)
{
    return step->is_launch && step->launch.programmatic && order->count == 1 &&
           order->variant->steps[order->last].is_launch;
}

/* Adds the node of a record other than a REC_AFTER. step NULL: adds an empty node. */
static CUresult order_add(struct order *order, const struct graph_step *step)
{
    const struct graph_variant *variant = order->variant;
    struct variant_step *added = &variant->steps[order->nodes];
    CUresult result;

    if (!order->given && order->nodes)
        order_name(order, order->nodes - 1);
    added->is_launch = step && step->is_launch;
    const bool early = step && order_is_early(order, step);
    if (early)
        added->fixed = variant->steps[order->last].fixed = true;
    result =
        step ? node_add(variant, step, order->after, order->count, early, &added->node)
             : DRV(cuGraphAddEmptyNode, &added->node, variant->graph, order->after, order->count);
    order->nodes++;
    order->count = 0;
    order->given = false;
    return result;
}

/* Takes the record at this offset, a REC_AFTER or the next step's record. */
static gs_status order_next(struct job *job, struct order *order, uint64_t offset)
{
    struct graph_variant *variant = order->variant;
    unsigned char *record = variant->set + offset;
    const bool after = ((const struct rec_header *)(const void *)record)->op == REC_AFTER;
    struct graph_step step;
    record_refusal refusal = NULL;
    CUresult result = CUDA_SUCCESS;

    if (!after && variant->steps[order->nodes].state == NODE_EMPTY)
        result = order_add(order, NULL);
    else if (!(refusal = graph_step_check(job->session, record, &step)) && after)
        refusal = order_take(order, (const void *)record);
    else if (!refusal) {
        variant->steps[order->nodes].serial = graph_step_serial(job->session, &step);
        variant->in_clusters |= step.is_launch && launch_in_clusters(&step.launch);
        result = order_add(order, &step);
    }
    if (refusal)
        return job_fail(job, GS_ERR_INVALID_VALUE, "%s at byte %" PRIu64 " of a graph", refusal,
                        offset);
    return result ? job_fail_driver(job, result) : GS_OK;
}

static gs_status nodes_add(struct job *job, const struct graph_records *records,
                           struct graph_variant *variant)
{
    struct order *order = calloc(1, sizeof(*order));
    gs_status status = GS_OK;

    if (!order)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for a graph");
    order->variant = variant;
    for (uint64_t at = 0; at < records->bytes && status == GS_OK;) {
        status = order_next(job, order, at);
        at += ((const struct rec_header *)(const void *)(variant->set + at))->size;
    }
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
    if (variant->graph)
        partition_graph_remove(variant->partition);
    free(variant->set);
    free(variant->steps);
    free(variant->changed);
    *variant = (struct graph_variant){0};
}

gs_status graph_variant_make(struct job *job, const struct graph_records *records,
                             const struct graph_changes *changes, struct partition *partition,
                             int priority, struct graph_variant *variant)
{
    CUresult result = DRV(cuGraphCreate, &variant->graph, 0);

    if (result)
        return job_fail_driver(job, result);
    variant->partition = partition;
    variant->priority = priority;
    /* read first, so that it is never wider than the window to which a node is set */
    variant->window = window_open_size(job->session);
    variant->generation = job->session->memory.generation;
    partition_graph_add(partition);
    if (variant_storage(job, variant, records, changes) == GS_OK &&
        nodes_add(job, records, variant) == GS_OK &&
        variant_charge(job, variant, records->steps) == GS_OK) {
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

/* ---- Setting --------------------------------------------------------------------------------- */

/* Returns the cluster size in the record of a launch that names clusters. */
static const unsigned char *record_cluster(const unsigned char *record)
{
    const struct rec_launch *launch = (const void *)record;

    return record + launch_record_cluster(launch->h.flags, launch->param_bytes);
}

/* Returns whether the driver can set a node from one record to the other, which has the same
 * operation and flags. It cannot if the copy is between other kinds of memory or the clusters have
 * another size. */
static bool alike(const unsigned char *from, const unsigned char *to)
{
    const struct rec_copy *is = (const void *)from, *becomes = (const void *)to;

    if (is->h.op == REC_LAUNCH && is->h.flags & REC_LAUNCH_CLUSTER)
        return !memcmp(record_cluster(from), record_cluster(to), sizeof(struct wire_cluster));
    return is->h.op != REC_COPY || is->kind == becomes->kind;
}

static CUresult node_set(const struct graph_variant *variant, CUgraphNode node,
                         const struct graph_step *step)
{
    if (step->is_launch) {
        void *pointers[LAUNCH_POINTERS];
        CUDA_KERNEL_NODE_PARAMS params;

        launch_params(&step->launch, &completion_none, pointers, &params);
        partition_enter(variant->partition);
        CUresult result = DRV(cuGraphExecKernelNodeSetParams_v2, variant->exec, node, &params);
        partition_enter(NULL);
        return result;
    }
    if (step->transfer.kind == TRANSFER_SET) {
        const CUDA_MEMSET_NODE_PARAMS params = memset_params(&step->transfer);
        return DRV(cuGraphExecMemsetNodeSetParams, variant->exec, node, &params, worker->context);
    }
    const CUDA_MEMCPY3D params = memcpy_params(&step->transfer);
    return DRV(cuGraphExecMemcpyNodeSetParams, variant->exec, node, &params, worker->context);
}

static enum variant_outcome node_enable(struct variant_step *step,
                                        const struct graph_variant *variant, bool on,
                                        CUresult *result)
{
    if (on == (step->state == NODE_ON))
        return VARIANT_SET;
    *result = DRV(cuGraphNodeSetEnabled, variant->exec, step->node, on);
    step->state = on ? NODE_ON : NODE_OFF;
    return *result ? VARIANT_UNFIT : VARIANT_SET;
}

/* Returns whether the kernel or host block that a node names still exists, and is the same one. */
static bool node_is_current(const struct session *session, const struct graph_records *records,
                            const struct graph_variant *variant, uint32_t number)
{
    struct graph_step checked;

    return variant->generation == session->memory.generation ||
           (!graph_step_check(session, variant->set + records->offset[number], &checked) &&
            graph_step_serial(session, &checked) == variant->steps[number].serial);
}

static enum variant_outcome step_leave_out(const struct session *session,
                                           const struct graph_records *records,
                                           struct graph_variant *variant, uint32_t number,
                                           CUresult *result)
{
    struct variant_step *step = &variant->steps[number];

    if (step->state == NODE_EMPTY)
        return VARIANT_SET;
    /* A step after a left-out one must begin after everything for which the left-out step waits has
     * ended. The programmatic edges would let it begin before. */
    if (step->fixed)
        return VARIANT_UNFIT;
    return node_is_current(session, records, variant, number)
               ? node_enable(step, variant, false, result)
               : VARIANT_UNFIT;
}

/* Sets a step to `record`, which the caller owns and which has the step's size, or leaves the step
 * out. */
static enum variant_outcome step_set(struct session *session, const struct graph_records *records,
                                     struct graph_variant *variant, uint32_t number,
                                     unsigned char *record, bool off, CUresult *result,
                                     record_refusal *refusal)
{
    struct variant_step *step = &variant->steps[number];
    unsigned char *set = variant->set + records->offset[number];
    const uint32_t size = ((const struct rec_header *)(const void *)set)->size;
    struct graph_step checked;

    if (off)
        return step_leave_out(session, records, variant, number, result);
    *refusal = graph_step_check(session, record, &checked);
    if (*refusal)
        return VARIANT_REFUSED;
    if (step->state == NODE_EMPTY)
        return VARIANT_UNFIT;
    const uint64_t serial = graph_step_serial(session, &checked);
    if (step->serial != serial || memcmp(set, record, size) != 0) {
        if (!alike(set, record) || !node_is_current(session, records, variant, number))
            return VARIANT_UNFIT;
        *result = node_set(variant, step->node, &checked);
        if (*result)
            return VARIANT_UNFIT;
        memcpy(set, record, size);
        step->serial = serial;
    }
    return node_enable(step, variant, true, result);
}

/* Walks, in ascending order, over the steps that are set differently than recorded and those that
 * this launch changes. A step that is only among the former is set back to its record. */
enum variant_outcome graph_variant_set(struct session *session, const struct graph_records *records,
                                       const struct graph_changes *changes,
                                       struct graph_variant *variant, CUresult *result,
                                       record_refusal *refusal)
{
    static _Alignas(REC_ALIGN) unsigned char record[REC_SIZE_MAX];
    static uint16_t former[SEG_GRAPH_NODES];
    const uint32_t count = variant->changed_count;
    enum variant_outcome outcome = VARIANT_SET;

    memcpy(former, variant->changed, count * sizeof(former[0]));
    variant->changed_count = 0;
    for (uint32_t at = 0, i = 0; outcome == VARIANT_SET && (i < count || at < changes->size);) {
        const uint32_t next = graph_change_step(changes, at);
        const uint32_t number = i < count && former[i] < next ? former[i] : next;
        const unsigned char *recorded = records->memory + records->offset[number];
        const uint32_t first = at;
        bool off = false;

        i += i < count && former[i] == number;
        if (number == next) {
            at = graph_change_apply(changes, first, NULL, &off);
            variant->changed[variant->changed_count++] = (uint16_t)number;
        }
        if (!off) {
            memcpy(record, recorded, ((const struct rec_header *)(const void *)recorded)->size);
            if (number == next)
                graph_change_apply(changes, first, record, &off);
        }
        outcome = step_set(session, records, variant, number, record, off, result, refusal);
    }
    variant->generation = session->memory.generation;
    return outcome;
}
