/*
 * exec_graph.c - exec graphs: kernels that run one after the other as one executable graph. The
 * parameters are set anew for each launch of the graph, and the last node signals the end if the
 * caller wants that. Runs on the session's lane.
 *
 * Measured on an H200:
 *   - setting a node's parameters costs 0.16 us when launches follow each other, and 0.4 to 0.7 us
 *     when the tenant waits for each; so unchanged parameters are not set again, and the end that
 *     the next launch signals is set before that launch comes (exec_graph_set_ahead);
 *   - a node runs on the SMs of the context that was current when the node was added, whichever
 *     stream its graph is launched in, and can be set only while that context is current. So a
 *     stream's order holds when its launches move between partitions.
 */
#include "worker/submit/exec_graph.h"

#include <stdlib.h>
#include <string.h>

#include "worker/submit/pool.h"

#define AHEAD_REST 8u /* launches without a prediction after a wrong one */

/* ---- Making ---------------------------------------------------------------------------------- */

/* Returns the partition of the completing kernel, which is that of the last kernel. */
static const struct partition *end_partition(const struct exec_graph *exec_graph,
                                             const struct launch *launches)
{
    return launches[exec_graph->length - 1].partition;
}

static int end_priority(const struct exec_graph *exec_graph, const struct launch *launches)
{
    return completing_priority(launches[exec_graph->length - 1].priority);
}

/* Returns whether the graph's nodes need priorities of their own. If one node has a priority, every
 * node needs one, because a node without one gets the lowest. */
static bool own_priorities(const struct exec_graph *exec_graph, const struct launch *launches,
                           int stream_priority)
{
    for (uint32_t i = 0; i < exec_graph->length; i++) {
        if (launches[i].priority != stream_priority)
            return true;
    }
    return exec_graph->ending == ENDS_BY_KERNEL &&
           end_priority(exec_graph, launches) != stream_priority;
}

/* Returns the size of a node's parameters: the launch's, and those that PTX passes have added to
 * the kernel. */
static uint32_t node_bytes(const struct launch *launch)
{
    return launch->kernel->param_bytes +
           (launch->kernel->signals_end ? (uint32_t)sizeof(struct completion_params) : 0) +
           (launch->kernel->windowed ? (uint32_t)sizeof(launch->window) : 0);
}

static bool node_is(const unsigned char *set, const struct launch *launch,
                    const struct completion_params *signal)
{
    const struct kernel *kernel = launch->kernel;
    const unsigned char *added = set + kernel->param_bytes;

    if (memcmp(set, launch->params, kernel->param_bytes) != 0)
        return false;
    if (kernel->signals_end) {
        if (memcmp(added, signal, sizeof(*signal)) != 0)
            return false;
        added += sizeof(*signal);
    }
    return !kernel->windowed || !memcmp(added, &launch->window, sizeof(launch->window));
}

static void node_note(unsigned char *set, const struct launch *launch,
                      const struct completion_params *signal)
{
    const struct kernel *kernel = launch->kernel;
    unsigned char *added = set + kernel->param_bytes;

    memcpy(set, launch->params, kernel->param_bytes);
    if (kernel->signals_end) {
        memcpy(added, signal, sizeof(*signal));
        added += sizeof(*signal);
    }
    if (kernel->windowed)
        memcpy(added, &launch->window, sizeof(launch->window));
}

/* Returns what kernel number i of the graph stores at its end. */
static const struct completion_params *node_signal(const struct exec_graph *exec_graph, uint32_t i,
                                                   const struct completion_params *signal)
{
    return exec_graph->ending == ENDS_BY_ITSELF && i == exec_graph->length - 1 ? signal
                                                                               : &completion_none;
}

/* Returns whether the graph has a completion node after its kernels. */
static bool has_end(const struct exec_graph *exec_graph)
{
    return exec_graph->ending == ENDS_BY_WRITE || exec_graph->ending == ENDS_BY_KERNEL;
}

/* Allocates the node handles and the memory for the nodes' parameters. */
static bool exec_graph_storage(struct exec_graph *exec_graph, const struct launch *launches)
{
    size_t params = 0;

    for (uint32_t i = 0; i < exec_graph->length; i++)
        params += node_bytes(&launches[i]);
    exec_graph->node = malloc(exec_graph->length * sizeof(*exec_graph->node) + params);
    exec_graph->params = (unsigned char *)(exec_graph->node + exec_graph->length);
    return exec_graph->node != NULL;
}

/* Returns whether kernel number i may begin before the one before it has ended. The graph's end is
 * signalled by the last kernel or a node after it, which regards only that kernel. So each kernel
 * that begins early must end after the kernel on which it depends: its threads wait for that one at
 * their ends (ptx/rewrite/completion_exits.c), whatever code the tenant wrote. Then the last
 * kernel's end is the end of all. */
static bool begins_early(const struct launch *launches, uint32_t i)
{
    return i > 0 && launches[i].programmatic && launches[i].kernel->ends_after &&
           launches[i].partition == launches[i - 1].partition;
}

static CUresult kernels_add(struct exec_graph *exec_graph, const struct launch *launches,
                            const struct completion_params *end, bool own_priority)
{
    unsigned char *set = exec_graph->params;
    CUresult result = CUDA_SUCCESS;

    for (uint32_t i = 0; i < exec_graph->length && !result; i++) {
        const struct completion_params *signal = node_signal(exec_graph, i, end);
        const bool early = begins_early(launches, i), after = i > 0 && !early;
        void *pointers[LAUNCH_POINTERS];
        CUDA_KERNEL_NODE_PARAMS params;

        launch_params(&launches[i], signal, pointers, &params);
        node_note(set, &launches[i], signal);
        set += node_bytes(&launches[i]);
        partition_enter(launches[i].partition);
        result = DRV(cuGraphAddKernelNode_v2, &exec_graph->node[i], exec_graph->graph,
                     after ? &exec_graph->node[i - 1] : NULL, after, &params);
        if (!result && early)
            result = node_follow(exec_graph->graph, exec_graph->node[i - 1], exec_graph->node[i]);
        if (!result && own_priority)
            result = node_prioritize(exec_graph->node[i], launches[i].priority);
    }
    return result;
}

static CUresult end_add(struct exec_graph *exec_graph, const struct launch *launches,
                        const struct completion_params *signal, bool own_priority)
{
    const CUgraphNode *last = &exec_graph->node[exec_graph->length - 1];

    if (exec_graph->ending == ENDS_BY_WRITE) {
        CUstreamBatchMemOpParams operation;
        partition_enter(NULL);
        CUDA_BATCH_MEM_OP_NODE_PARAMS write = completion_node(signal, &operation);
        return DRV(cuGraphAddBatchMemOpNode, &exec_graph->end, exec_graph->graph, last, 1, &write);
    }
    void *pointers[COMPLETING_PARAMS];
    const CUDA_KERNEL_NODE_PARAMS end = completing_params(signal, pointers);
    partition_enter(end_partition(exec_graph, launches));
    CUresult result =
        DRV(cuGraphAddKernelNode_v2, &exec_graph->end, exec_graph->graph, last, 1, &end);
    if (!result && own_priority)
        result = node_prioritize(exec_graph->end, end_priority(exec_graph, launches));
    return result;
}

CUresult exec_graph_init(struct exec_graph *exec_graph, const struct launch *launches,
                         uint32_t length, enum ending ending,
                         const struct completion_params *signal, int stream_priority)
{
    *exec_graph = (struct exec_graph){.length = length, .ending = ending};
    const bool own_priority = own_priorities(exec_graph, launches, stream_priority);
    if (!exec_graph_storage(exec_graph, launches)) {
        *exec_graph = (struct exec_graph){0};
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = DRV(cuGraphCreate, &exec_graph->graph, 0);
    if (!result)
        result = kernels_add(exec_graph, launches, signal, own_priority);
    if (!result && has_end(exec_graph))
        result = end_add(exec_graph, launches, signal, own_priority);
    partition_enter(NULL);
    if (!result)
        pool_give_graph();
    if (!result)
        result = DRV(cuGraphInstantiateWithFlags, &exec_graph->exec, exec_graph->graph,
                     own_priority ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY : 0);
    if (result) {
        if (exec_graph->graph)
            DRV_MUST(cuGraphDestroy, exec_graph->graph);
        free(exec_graph->node);
        *exec_graph = (struct exec_graph){0};
    }
    return result;
}

void exec_graph_deinit(struct exec_graph *exec_graph)
{
    if (!exec_graph->exec)
        return;
    DRV_MUST(cuGraphExecDestroy, exec_graph->exec);
    DRV_MUST(cuGraphDestroy, exec_graph->graph);
    free(exec_graph->node);
    *exec_graph = (struct exec_graph){0};
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Sets node number i, and notes its parameters at `set`. */
static CUresult node_set(const struct exec_graph *exec_graph, uint32_t i, unsigned char *set,
                         const struct launch *launch, const struct completion_params *signal)
{
    void *pointers[LAUNCH_POINTERS];
    CUDA_KERNEL_NODE_PARAMS params;

    launch_params(launch, signal, pointers, &params);
    partition_enter(launch->partition);
    CUresult result =
        DRV(cuGraphExecKernelNodeSetParams_v2, exec_graph->exec, exec_graph->node[i], &params);
    if (!result)
        node_note(set, launch, signal);
    return result;
}

/* Sets the nodes whose parameters differ from those of `launches`. */
static CUresult kernels_set(struct exec_graph *exec_graph, const struct launch *launches,
                            const struct completion_params *end)
{
    unsigned char *set = exec_graph->params;

    for (uint32_t i = 0; i < exec_graph->length; i++) {
        const struct completion_params *signal = node_signal(exec_graph, i, end);

        if (!node_is(set, &launches[i], signal)) {
            if (exec_graph->ahead.done)
                exec_graph->ahead.rest = AHEAD_REST;
            CUresult result = node_set(exec_graph, i, set, &launches[i], signal);
            if (result)
                return result;
        }
        set += node_bytes(&launches[i]);
    }
    exec_graph->ahead.done = false;
    return CUDA_SUCCESS;
}

static CUresult end_set(const struct exec_graph *exec_graph, const struct launch *launches,
                        const struct completion_params *signal)
{
    if (exec_graph->ending == ENDS_BY_WRITE) {
        CUstreamBatchMemOpParams operation;
        partition_enter(NULL);
        CUDA_BATCH_MEM_OP_NODE_PARAMS write = completion_node(signal, &operation);
        return DRV(cuGraphExecBatchMemOpNodeSetParams, exec_graph->exec, exec_graph->end, &write);
    }
    void *pointers[COMPLETING_PARAMS];
    const CUDA_KERNEL_NODE_PARAMS end = completing_params(signal, pointers);
    partition_enter(end_partition(exec_graph, launches));
    return DRV(cuGraphExecKernelNodeSetParams_v2, exec_graph->exec, exec_graph->end, &end);
}

CUresult exec_graph_launch(struct exec_graph *exec_graph, const struct launch *launches,
                           const struct completion_params *signal, CUstream stream)
{
    CUresult result = kernels_set(exec_graph, launches, signal);

    if (!result && has_end(exec_graph))
        result = end_set(exec_graph, launches, signal);
    partition_enter(NULL);
    return result ? result : DRV(cuGraphLaunch, exec_graph->exec, stream);
}

void exec_graph_set_ahead(struct exec_graph *exec_graph, const struct launch *launch,
                          const struct completion_params *signal)
{
    const uint64_t position_step = signal->position - exec_graph->ahead.position,
                   sequence_step = signal->sequence - exec_graph->ahead.sequence;
    const bool steady = position_step == exec_graph->ahead.position_step &&
                        sequence_step == exec_graph->ahead.sequence_step;
    struct completion_params next = *signal;

    exec_graph->ahead.position = signal->position;
    exec_graph->ahead.position_step = position_step;
    exec_graph->ahead.sequence = signal->sequence;
    exec_graph->ahead.sequence_step = sequence_step;
    if (exec_graph->ahead.rest > 0) {
        exec_graph->ahead.rest--;
        return;
    }
    if (!steady)
        return;
    next.position += position_step;
    next.sequence += sequence_step;
    exec_graph->ahead.done = true;
    /* After a failure it is unknown to what the node is set. No launch stores a word at address ~0,
     * so noting that address makes the next launch set the node. */
    if (node_set(exec_graph, 0, exec_graph->params, launch, &next))
        memset(exec_graph->params + launch->kernel->param_bytes, 0xff, sizeof(next));
    partition_enter(NULL);
}
