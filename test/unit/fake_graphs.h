/*
 * fake_graphs.h - a driver that runs a kernel, or a graph of kernels, when it is launched, and
 * notes which kernels ran, on which SMs, with which parameter and what they signalled of their own
 * end. It can refuse the calls that make graphs. Each test program includes this once, after
 * cmocka.h.
 */
#ifndef GS_TEST_FAKE_GRAPHS_H
#define GS_TEST_FAKE_GRAPHS_H

#include <string.h>

#include "common/util.h"
#include "fake_driver.h"
#include "ptx/rewrite/completion_params.h"
#include "worker/driver/driver.h"
#include "worker/sched/schedule.h" /* included before `ran` becomes a name of this file */

#define GRAPHS   4096u
#define NODES    66u
#define RAN_MOST 256u

/* A kernel that ran. */
struct run {
    const void *function;
    uint64_t parameter;
    uint32_t blocks;
    int priority;      /* of the node; 0: the node has no priority of its own */
    CUcontext context; /* the context that was current when the node was added or set */
    struct completion_params signal; /* of a kernel that signals its own end, else zeros */
    bool behind;                     /* the node before it in its graph */
    bool early;                      /* by a programmatic edge */
};
static struct run ran[RAN_MOST];
static uint32_t ran_count;

static struct graph {
    uint32_t nodes;
    struct run node[NODES];
    bool alive;
} graphs[GRAPHS];
static uint32_t graph_count;
static uint32_t graph_launches, graphs_made, graphs_destroyed, nodes_set, mixed_made;
static uint32_t nodes_run;            /* of the graphs launched */
static uint32_t signals, own_signals; /* of those, by kernels that signal their own end */
static uint64_t last_signal;
static uint32_t nodes_set_waited; /* of those set, before a graph was launched */
static bool no_room_to_make, no_room_to_launch;
static bool setting_ahead_fails; /* behind a graph's launch; the node is left set to anything */
static uint32_t calls_left;      /* calls that make graphs, until one is refused */
static CUcontext current;

/* Functions of kernels that signal their own end, and how many parameters are before the hidden
 * one.
 */
static struct {
    const void *function;
    uint32_t param_count;
} signallers[8];
static uint32_t signaller_count;

static inline void function_signals_end(const void *function, uint32_t param_count)
{
    assert_true(signaller_count < ARRAY_SIZE(signallers));
    signallers[signaller_count].function = function;
    signallers[signaller_count++].param_count = param_count;
}

static inline struct completion_params signal_of(const void *function, void **params)
{
    struct completion_params signal = {0};

    for (uint32_t i = 0; i < signaller_count; i++) {
        if (signallers[i].function == function)
            memcpy(&signal, params[signallers[i].param_count], sizeof(signal));
    }
    return signal;
}

/* The completing kernel has no function here; its second argument is the position. */
static inline void run_one(const struct run *run)
{
    if (!run->function) {
        last_signal = run->parameter;
        signals++;
        return;
    }
    assert_true(ran_count < RAN_MOST);
    ran[ran_count++] = *run;
    if (run->signal.word) {
        last_signal = run->signal.position;
        signals++;
        own_signals++;
    }
}

static inline struct run run_of(const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct run run = {.function = params->func,
                      .blocks = params->gridDimX,
                      .context = current,
                      .signal = signal_of(params->func, params->kernelParams)};

    memcpy(&run.parameter, params->kernelParams[params->func ? 0 : 1], sizeof(run.parameter));
    return run;
}

static inline CUresult kernel_launch(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                     unsigned int grid_z, unsigned int block_x,
                                     unsigned int block_y, unsigned int block_z, unsigned int smem,
                                     CUstream on, void **params, void **extra)
{
    (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)smem;
    (void)on, (void)extra;
    struct run run = {.function = function,
                      .blocks = grid_x,
                      .context = current,
                      .signal = signal_of(function, params)};

    memcpy(&run.parameter, params[0], sizeof(run.parameter));
    run_one(&run);
    return CUDA_SUCCESS;
}

static inline CUresult launch_with(const CUlaunchConfig *config, CUfunction function, void **params,
                                   void **extra)
{
    (void)extra;
    struct run run = {.function = function,
                      .blocks = config->gridDimX,
                      .context = current,
                      .signal = signal_of(function, params)};

    memcpy(&run.parameter, params[function ? 0 : 1], sizeof(run.parameter));
    run_one(&run);
    return CUDA_SUCCESS;
}

static inline CUresult value_write(CUstream on, CUdeviceptr address, uint64_t value,
                                   unsigned int flags)
{
    (void)on, (void)address, (void)flags;
    last_signal = value;
    signals++;
    return CUDA_SUCCESS;
}

static inline bool refused(void)
{
    return no_room_to_make || calls_left-- == 0;
}

static inline CUresult graph_create(CUgraph *graph, unsigned int flags)
{
    (void)flags;
    if (refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    assert_true(graph_count < GRAPHS);
    graphs[graph_count] = (struct graph){.alive = true};
    *graph = (CUgraph)&graphs[graph_count++];
    return CUDA_SUCCESS;
}

static inline CUresult graph_destroy(CUgraph graph)
{
    assert_non_null(graph);
    ((struct graph *)graph)->alive = false;
    return CUDA_SUCCESS;
}

static inline CUresult node_add(CUgraph to, const struct run *run, CUgraphNode *node)
{
    struct graph *graph = (struct graph *)to;

    assert_true(graph->alive && graph->nodes < NODES);
    graph->node[graph->nodes] = *run;
    *node = (CUgraphNode)&graph->node[graph->nodes++];
    return CUDA_SUCCESS;
}

static inline CUresult kernel_add(CUgraphNode *node, CUgraph to, const CUgraphNode *after,
                                  size_t count, const CUDA_KERNEL_NODE_PARAMS *params)
{
    const struct graph *graph = (const struct graph *)to;
    struct run run = run_of(params);

    if (refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    assert_true(count <= (graph->nodes > 0));
    if (count)
        assert_ptr_equal(*after, &graph->node[graph->nodes - 1]);
    run.behind = count > 0;
    return node_add(to, &run, node);
}

static inline CUresult edges_add(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                 const CUgraphEdgeData *data, size_t count)
{
    struct run *node = (struct run *)*to;

    (void)graph;
    if (refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    assert_int_equal(count, 1);
    assert_ptr_equal(*from, node - 1);
    assert_false(node->behind);
    assert_int_equal(data->type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    assert_int_equal(data->from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    node->behind = node->early = true;
    return CUDA_SUCCESS;
}

static inline CUresult kernel_set(CUgraphExec exec, CUgraphNode node,
                                  const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct run *run = (struct run *)node, as = run_of(params);

    assert_true(((struct graph *)exec)->alive);
    /* A node can be set only in its own context, and keeps its function and grid here. */
    assert_ptr_equal(run->context, as.context);
    assert_ptr_equal(run->function, as.function);
    assert_int_equal(run->blocks, as.blocks);
    run->parameter = as.parameter;
    run->signal = as.signal;
    nodes_set++;
    nodes_set_waited += graph_launches == 0;
    if (!setting_ahead_fails || graph_launches == 0)
        return CUDA_SUCCESS;
    run->parameter = run->signal.position = UINT64_MAX;
    return CUDA_ERROR_INVALID_VALUE;
}

static inline CUresult write_add(CUgraphNode *node, CUgraph to, const CUgraphNode *after,
                                 size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    const struct run run = {.parameter = params->paramArray->writeValue.value64, .behind = count};

    (void)after;
    return refused() ? CUDA_ERROR_OUT_OF_MEMORY : node_add(to, &run, node);
}

static inline CUresult write_set(CUgraphExec exec, CUgraphNode node,
                                 const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    (void)exec;
    ((struct run *)node)->parameter = params->paramArray->writeValue.value64;
    return CUDA_SUCCESS;
}

static inline CUresult priority_set(CUgraphNode node, CUlaunchAttributeID which,
                                    const CUlaunchAttributeValue *value)
{
    (void)which;
    if (refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    ((struct run *)node)->priority = value->priority;
    return CUDA_SUCCESS;
}

static inline CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    const struct graph *g = (const struct graph *)graph;
    bool mixed = false;

    (void)flags;
    if (refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* Each node comes behind the one before it. */
    for (uint32_t i = 1; i < g->nodes; i++)
        assert_true(g->node[i].behind);
    for (uint32_t i = 1; i < g->nodes; i++)
        mixed = mixed || (g->node[i].function && g->node[i].function != g->node[0].function);
    *exec = (CUgraphExec)graph;
    graphs_made++;
    mixed_made += mixed;
    return CUDA_SUCCESS;
}

static inline CUresult exec_destroy(CUgraphExec exec)
{
    (void)exec;
    graphs_destroyed++;
    return CUDA_SUCCESS;
}

static inline CUresult graph_launch_run(CUgraphExec exec, CUstream on)
{
    const struct graph *graph = (const struct graph *)exec;

    (void)on;
    assert_true(graph->alive);
    if (no_room_to_launch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    graph_launches++;
    nodes_run += graph->nodes;
    for (uint32_t i = 0; i < graph->nodes; i++)
        run_one(&graph->node[i]);
    return CUDA_SUCCESS;
}

static inline CUresult function_set(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return CUDA_SUCCESS;
}

static inline CUresult context_set(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

static inline CUresult event_create(CUevent *event, unsigned int flags)
{
    (void)flags;
    *event = (CUevent)&signals;
    return CUDA_SUCCESS;
}

static inline CUresult event_record(CUevent event, CUstream on)
{
    (void)event, (void)on;
    return CUDA_SUCCESS;
}

static inline CUresult stream_wait(CUstream on, CUevent event, unsigned int flags)
{
    (void)on, (void)event, (void)flags;
    return CUDA_SUCCESS;
}

/* Starts anew: nothing has run, and nothing is refused. */
static inline void graphs_open(void)
{
    fake_cu.cuLaunchKernel = kernel_launch;
    fake_cu.cuLaunchKernelEx = launch_with;
    fake_cu.cuStreamWriteValue64_v2 = value_write;
    fake_cu.cuGraphCreate = graph_create;
    fake_cu.cuGraphDestroy = graph_destroy;
    fake_cu.cuGraphAddKernelNode_v2 = kernel_add;
    fake_cu.cuGraphAddDependencies_v2 = edges_add;
    fake_cu.cuGraphExecKernelNodeSetParams_v2 = kernel_set;
    fake_cu.cuGraphAddBatchMemOpNode = write_add;
    fake_cu.cuGraphExecBatchMemOpNodeSetParams = write_set;
    fake_cu.cuGraphKernelNodeSetAttribute = priority_set;
    fake_cu.cuGraphInstantiateWithFlags = instantiate;
    fake_cu.cuGraphExecDestroy = exec_destroy;
    fake_cu.cuGraphLaunch = graph_launch_run;
    fake_cu.cuFuncSetAttribute = function_set;
    fake_cu.cuCtxSetCurrent = context_set;
    fake_cu.cuEventCreate = event_create;
    fake_cu.cuEventRecord = event_record;
    fake_cu.cuStreamWaitEvent = stream_wait;
    ran_count = 0;
    graph_count = graph_launches = graphs_made = graphs_destroyed = nodes_set = mixed_made = 0;
    nodes_run = nodes_set_waited = signals = own_signals = signaller_count = 0;
    no_room_to_make = no_room_to_launch = setting_ahead_fails = false;
    calls_left = UINT32_MAX;
}

#endif
