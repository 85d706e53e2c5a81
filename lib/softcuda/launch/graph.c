// Graphs. As in CUDA, one thread at a time may use a graph or its executable. A launch copies what
// it needs into a run (stream/run.h).
#include "softcuda/launch/graph.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/device/device.h"
#include "softcuda/module/module.h"
#include "softcuda/sched/sched.h"
#include "softcuda/stream/order.h"
#include "softcuda/stream/run.h"

struct CUgraphNode_st {
    uint32_t magic;
    uint32_t index; // in its graph
    CUgraph graph;
    struct node_work work;
    struct dependency {
        CUgraphNode on;
        bool early; // see struct edge
    } * dependencies;
    size_t dependency_count;
};

struct CUgraph_st {
    uint32_t magic;
    CUgraphNode *nodes;
    size_t count, capacity;
};

struct exec_node {
    CUgraphNode origin; // only compared, since the node may be gone
    bool disabled;
    struct node_work work;
};

struct CUgraphExec_st {
    uint32_t magic;
    bool node_priorities;
    uint32_t search_from; // where the next graph_exec_set starts to search
    struct topology *topology;
    CUstream last_stream; // launches of one executable graph run one after the other
    uint64_t last_position;
    struct exec_node nodes[];
};

// ---- Work

void node_work_free(struct node_work *work)
{
    if (work->kind == OP_KERNEL) {
        free(work->kernel.params);
        if (work->kernel.function)
            module_release(work->kernel.function->module);
    } else if (work->kind == OP_MEM) {
        free(work->mem.params);
    }
    *work = (struct node_work){.kind = OP_EMPTY};
}

static void *copy_bytes(const void *bytes, size_t size)
{
    void *copy = malloc(size ? size : 1);

    return copy && size ? memcpy(copy, bytes, size) : copy;
}

static CUresult node_work_copy(struct node_work *to, const struct node_work *from)
{
    struct node_work copy = *from;

    if (copy.kind == OP_KERNEL) {
        copy.kernel.params =
            copy_bytes(from->kernel.params, from->kernel.function->kernel->func->param_bytes);
        if (!copy.kernel.params)
            return CUDA_ERROR_OUT_OF_MEMORY;
        module_reference(copy.kernel.function->module);
    } else if (copy.kind == OP_MEM) {
        copy.mem.params = copy_bytes(from->mem.params, from->mem.count * sizeof(*copy.mem.params));
        if (!copy.mem.params)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *to = copy;
    return CUDA_SUCCESS;
}

// Makes the operation for WORK. A kernel gets PRIORITY, the stream's, unless it has one of its own
// and OWN_PRIORITY is set.
static CUresult node_work_op(const struct node_work *work, int priority, bool own_priority,
                             struct op **out)
{
    struct node_work copy;
    CUresult result;
    struct op *op;

    if (work->kind == OP_KERNEL) {
        struct launch launch = work->kernel;

        launch.has_priority &= own_priority;
        result = function_check(launch.function);
        return result ? result : launch_op(work->context, &launch, priority, out);
    }
    op = op_new(work->kind);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = node_work_copy(&copy, work);
    if (result) {
        free(op);
        return result;
    }
    if (work->kind == OP_COPY)
        op->copy = copy.copy;
    else if (work->kind == OP_FILL)
        op->fill = copy.fill;
    else if (work->kind == OP_MEM)
        op->mem = copy.mem;
    *out = op;
    return CUDA_SUCCESS;
}

// ---- Graphs

CUresult graph_new(CUgraph *out)
{
    CUgraph g = calloc(1, sizeof(*g));

    if (!g)
        return CUDA_ERROR_OUT_OF_MEMORY;
    g->magic = MAGIC_GRAPH;
    *out = g;
    return CUDA_SUCCESS;
}

static void node_free(CUgraphNode node)
{
    node->magic = MAGIC_DEAD;
    node_work_free(&node->work);
    free(node->dependencies);
    free(node);
}

CUresult graph_free(CUgraph graph)
{
    if (!graph || graph->magic != MAGIC_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->count; i++)
        node_free(graph->nodes[i]);
    graph->magic = MAGIC_DEAD;
    free(graph->nodes);
    free(graph);
    return CUDA_SUCCESS;
}

static bool node_is_of(CUgraph graph, CUgraphNode node)
{
    return node && node->magic == MAGIC_NODE && node->graph == graph;
}

static bool node_depends_on(CUgraphNode node, CUgraphNode on)
{
    for (size_t i = 0; i < node->dependency_count; i++) {
        if (node->dependencies[i].on == on)
            return true;
    }
    return false;
}

static CUresult node_add_dependency(CUgraphNode node, CUgraphNode on, bool early)
{
    struct dependency *grown;

    if (!node_is_of(node->graph, on) || node == on || node_depends_on(node, on) ||
        (early && (node->work.kind != OP_KERNEL || on->work.kind != OP_KERNEL)))
        return CUDA_ERROR_INVALID_VALUE;
    grown = realloc(node->dependencies, (node->dependency_count + 1) * sizeof(*grown));
    if (!grown)
        return CUDA_ERROR_OUT_OF_MEMORY;
    grown[node->dependency_count++] = (struct dependency){on, early};
    node->dependencies = grown;
    return CUDA_SUCCESS;
}

static bool graph_grow(CUgraph graph)
{
    size_t wanted = graph->capacity ? graph->capacity * 2 : 8;
    CUgraphNode *grown;

    if (graph->count < graph->capacity)
        return true;
    grown = realloc(graph->nodes, wanted * sizeof(*grown));
    if (!grown)
        return false;
    graph->nodes = grown;
    graph->capacity = wanted;
    return true;
}

CUresult graph_add(CUgraph graph, const CUgraphNode *dependencies, size_t count,
                   const struct node_work *work, CUgraphNode *out)
{
    CUgraphNode node;
    CUresult result = CUDA_SUCCESS;

    if (!graph || graph->magic != MAGIC_GRAPH || (count && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    if (!graph_grow(graph))
        return CUDA_ERROR_OUT_OF_MEMORY;
    node = calloc(1, sizeof(*node));
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->magic = MAGIC_NODE;
    node->graph = graph;
    node->index = graph->count;
    for (size_t i = 0; i < count && !result; i++)
        result = node_add_dependency(node, dependencies[i], false);
    if (result) {
        node_free(node);
        return result;
    }
    node->work = *work;
    graph->nodes[graph->count++] = node;
    *out = node;
    return CUDA_SUCCESS;
}

static bool edge_is_early(const CUgraphEdgeData *edges, size_t i)
{
    return edges && edges[i].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
}

CUresult graph_add_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                         const CUgraphEdgeData *edges, size_t count)
{
    CUresult result = CUDA_SUCCESS;

    if (!graph || graph->magic != MAGIC_GRAPH || (count && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && !result; i++)
        result = node_is_of(graph, to[i])
                     ? node_add_dependency(to[i], from[i], edge_is_early(edges, i))
                     : CUDA_ERROR_INVALID_VALUE;
    return result;
}

CUresult graph_node_kernel(CUgraphNode node, struct launch **kernel)
{
    if (!node || node->magic != MAGIC_NODE || node->work.kind != OP_KERNEL)
        return CUDA_ERROR_INVALID_VALUE;
    *kernel = &node->work.kernel;
    return CUDA_SUCCESS;
}

// ---- Executable graphs

// The number of executable graphs. They take device memory on a GPU; here GSHARE_SOFT_GRAPHS limits
// their number.
static _Atomic uint32_t execs;

static CUresult graph_topology(CUgraph graph, struct topology **out)
{
    CLEANUP_FREE struct edge *edges = NULL;
    size_t count = 0, at = 0;

    for (size_t i = 0; i < graph->count; i++)
        count += graph->nodes[i]->dependency_count;
    edges = malloc((count + 1) * sizeof(*edges));
    if (!edges)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->dependency_count; j++)
            edges[at++] = (struct edge){graph->nodes[i]->dependencies[j].on->index, i,
                                        graph->nodes[i]->dependencies[j].early};
    }
    return topology_new(graph->count, edges, count, out);
}

static void exec_free(CUgraphExec exec)
{
    for (uint32_t i = 0; i < exec->topology->count; i++)
        node_work_free(&exec->nodes[i].work);
    topology_release(exec->topology);
    exec->magic = MAGIC_DEAD;
    free(exec);
    atomic_fetch_sub_explicit(&execs, 1, memory_order_relaxed);
}

CUresult graph_instantiate(CUgraph graph, bool node_priorities, CUgraphExec *out)
{
    CUgraphExec exec;
    CUresult result;

    if (!graph || graph->magic != MAGIC_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    if (atomic_fetch_add_explicit(&execs, 1, memory_order_relaxed) >= device_config()->graphs) {
        atomic_fetch_sub_explicit(&execs, 1, memory_order_relaxed);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec = calloc(1, sizeof(*exec) + graph->count * sizeof(exec->nodes[0]));
    result = exec ? graph_topology(graph, &exec->topology) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result) {
        free(exec);
        atomic_fetch_sub_explicit(&execs, 1, memory_order_relaxed);
        return result;
    }
    exec->magic = MAGIC_GRAPH_EXEC;
    exec->node_priorities = node_priorities;
    for (size_t i = 0; i < graph->count && !result; i++) {
        exec->nodes[i].origin = graph->nodes[i];
        exec->nodes[i].work.kind = OP_EMPTY;
        result = node_work_copy(&exec->nodes[i].work, &graph->nodes[i]->work);
    }
    if (result)
        exec_free(exec);
    else
        *out = exec;
    return result;
}

CUresult graph_exec_check(CUgraphExec exec)
{
    return exec && exec->magic == MAGIC_GRAPH_EXEC ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult graph_exec_free(CUgraphExec exec)
{
    CUresult result = graph_exec_check(exec);

    if (result)
        return result;
    if (exec->last_stream) {
        sched_lock();
        stream_release(exec->last_stream);
        sched_unlock();
    }
    exec_free(exec);
    return CUDA_SUCCESS;
}

static struct exec_node *exec_find(CUgraphExec exec, CUgraphNode node)
{
    uint32_t count = exec->topology->count;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (exec->search_from + i) % count;

        if (exec->nodes[at].origin == node) {
            exec->search_from = at + 1 < count ? at + 1 : 0;
            return &exec->nodes[at];
        }
    }
    return NULL;
}

CUresult graph_exec_set(CUgraphExec exec, CUgraphNode node, const struct node_work *work)
{
    CUresult result = graph_exec_check(exec);
    struct exec_node *n;
    struct node_work new;

    if (result)
        return result;
    n = exec_find(exec, node);
    if (!n || n->work.kind != work->kind)
        return CUDA_ERROR_INVALID_VALUE;
    new = *work;
    if (work->kind == OP_KERNEL) {
        // The context, the launch attributes and the stack stay unchanged.
        if (new.context != n->work.context)
            return CUDA_ERROR_INVALID_VALUE;
        new.kernel.cooperative = n->work.kernel.cooperative;
        memcpy(new.kernel.cluster, n->work.kernel.cluster, sizeof(new.kernel.cluster));
        new.kernel.has_priority = n->work.kernel.has_priority;
        new.kernel.priority = n->work.kernel.priority;
        new.kernel.stack = n->work.kernel.stack;
    }
    node_work_free(&n->work);
    n->work = new;
    return CUDA_SUCCESS;
}

CUresult graph_exec_enable(CUgraphExec exec, CUgraphNode node, bool enabled)
{
    CUresult result = graph_exec_check(exec);
    struct exec_node *n;

    if (result)
        return result;
    n = exec_find(exec, node);
    if (!n || (n->work.kind != OP_KERNEL && n->work.kind != OP_COPY && n->work.kind != OP_FILL))
        return CUDA_ERROR_INVALID_VALUE;
    n->disabled = !enabled;
    return CUDA_SUCCESS;
}

// ---- Runs

static CUresult run_new(CUgraphExec exec, int priority, struct graph_run **out)
{
    struct graph_run *run = graph_run_new(exec->topology);
    CUresult result = run ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

    for (uint32_t i = 0; i < exec->topology->count && !result; i++) {
        static const struct node_work none = {.kind = OP_EMPTY};
        struct node_work *work = &exec->nodes[i].work;
        struct op *op;

        if (exec->nodes[i].disabled) {
            result = node_work_op(&none, priority, false, &op);
            if (!result)
                graph_run_set(run, i, op);
            continue;
        }
        result = node_work_op(work, priority, exec->node_priorities, &op);
        if (result)
            break;
        // The node keeps the limit of the first launch, as on an H200.
        if (work->kind == OP_KERNEL)
            work->kernel.stack = op->grid->exec.stack_bytes;
        graph_run_set(run, i, op);
    }
    if (result)
        graph_run_free(run);
    else
        *out = run;
    return result;
}

// If the last launch of this executable graph went to another stream, makes STREAM wait for it.
static CUresult launch_wait_for_last(CUgraphExec exec, CUstream stream)
{
    struct op *op;

    if (!exec->last_stream || exec->last_stream == stream ||
        stream_reached(exec->last_stream, exec->last_position))
        return CUDA_SUCCESS;
    op = op_new(OP_WAIT);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->wait.stream = exec->last_stream;
    op->wait.position = exec->last_position;
    sched_lock();
    stream_reference(exec->last_stream);
    sched_unlock();
    return stream_submit(stream, op, NULL);
}

CUresult graph_exec_launch(CUgraphExec exec, CUstream stream)
{
    CUresult result = launch_wait_for_last(exec, stream);
    struct op *whole;

    if (result)
        return result;
    whole = op_new(OP_GRAPH);
    if (!whole)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = run_new(exec, stream->priority, &whole->graph);
    if (result) {
        free(whole);
        return result;
    }
    sched_lock();
    if (exec->last_stream != stream) {
        if (exec->last_stream)
            stream_release(exec->last_stream);
        stream_reference(stream);
        exec->last_stream = stream;
    }
    sched_unlock();
    return stream_submit(stream, whole, &exec->last_position);
}
