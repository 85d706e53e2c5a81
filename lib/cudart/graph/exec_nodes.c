/* exec_nodes.c - see exec_nodes.h. */
#include "cudart/graph/exec_nodes.h"

#include <stdint.h>
#include <stdlib.h>

#include "cudart/graph/graph_parts.h"

/* ---- Order: the lock is held ----------------------------------------------------------------- */

/* The state of a walk over a graph: the successors of all nodes, in one array, and a queue. */
struct walk {
    size_t *waits; /* for each node, the number of nodes for which it still waits */
    size_t *first; /* where each node's part of `after` begins; one more for the end */
    size_t *after;
    size_t *queue;
};

static void walk_free(struct walk *walk)
{
    free(walk->waits);
    free(walk->first);
    free(walk->after);
    free(walk->queue);
}

static bool walk_make(struct walk *walk, const struct graph *graph)
{
    size_t edges = 0;

    for (size_t i = 0; i < graph->count; i++)
        edges += graph->nodes[i]->before_count;
    walk->waits = calloc(graph->count + 1, sizeof(size_t));
    walk->first = calloc(graph->count + 2, sizeof(size_t));
    walk->after = calloc(edges + 1, sizeof(size_t));
    walk->queue = calloc(graph->count + 1, sizeof(size_t));
    if (walk->waits == NULL || walk->first == NULL || walk->after == NULL || walk->queue == NULL)
        return false;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->mark = i;
    /* The counts are stored two elements further on, so that filling the parts, below, moves each
     * beginning to its own element. */
    for (size_t i = 0; i < graph->count; i++) {
        walk->waits[i] = graph->nodes[i]->before_count;
        for (size_t j = 0; j < graph->nodes[i]->before_count; j++)
            walk->first[graph->nodes[i]->before[j].from->mark + 2]++;
    }
    for (size_t i = 2; i < graph->count + 2; i++)
        walk->first[i] += walk->first[i - 1];
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->before_count; j++)
            walk->after[walk->first[graph->nodes[i]->before[j].from->mark + 1]++] = i;
    }
    return true;
}

/* Fills the queue with the nodes' numbers in topological order. Returns their number, which is
 * smaller if the edges form a cycle. */
static size_t walk_order(struct walk *walk, const struct graph *graph)
{
    size_t known = 0;

    for (size_t i = 0; i < graph->count; i++) {
        if (walk->waits[i] == 0)
            walk->queue[known++] = i;
    }
    for (size_t done = 0; done < known; done++) {
        size_t node = walk->queue[done];

        for (size_t i = walk->first[node]; i < walk->first[node + 1]; i++) {
            if (--walk->waits[walk->after[i]] == 0)
                walk->queue[known++] = walk->after[i];
        }
    }
    return known;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

#define NO_PARENT SIZE_MAX

/* Adds an empty node with room for its dependencies. NULL: no memory. */
static struct exec_node *exec_node_add(struct exec_nodes *nodes, const struct node *from,
                                       size_t before)
{
    const size_t wanted = nodes->room ? 2 * nodes->room : 16;
    struct exec_node *node;

    if (nodes->count == nodes->room) {
        node = realloc(nodes->at, wanted * sizeof(*node));
        if (node == NULL)
            return NULL;
        nodes->at = node;
        nodes->room = wanted;
    }
    node = &nodes->at[nodes->count];
    *node = (struct exec_node){
        .node = from->handle, .made = from->mark, .op.type = cudaGraphNodeTypeEmpty};
    node->before = calloc(before + 1, sizeof(size_t));
    if (node->before == NULL)
        return NULL;
    nodes->count++;
    return node;
}

static void exec_node_wait(struct exec_node *node, size_t before)
{
    node->before[node->before_count++] = before;
}

/* Adds the end of a child graph, whose nodes begin at `first`. It depends on the nodes on which no
 * other node of the child depends or, if there is none, on the node that stands for the child
 * graph. */
static cudaError_t child_end(struct exec_nodes *nodes, const struct node *parent, size_t first)
{
    const size_t count = nodes->count - first;
    bool *waited = calloc(count + 1, sizeof(bool));
    struct exec_node *end = waited != NULL ? exec_node_add(nodes, parent, count + 1) : NULL;

    if (end != NULL)
        end->ends_child = true;
    for (size_t i = first; end != NULL && i < first + count; i++) {
        for (size_t j = 0; j < nodes->at[i].before_count; j++) {
            if (nodes->at[i].before[j] >= first)
                waited[nodes->at[i].before[j] - first] = true;
        }
    }
    for (size_t i = 0; end != NULL && i < count; i++) {
        if (!waited[i])
            exec_node_wait(end, first + i);
    }
    if (end != NULL && count == 0)
        exec_node_wait(end, first - 1);
    free(waited);
    return end != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t nodes_add_graph(struct exec_nodes *nodes, const struct graph *graph,
                                   size_t parent);

/* ends: where each node of the graph ends. parent: the node on which the child graph's first nodes
 * depend; NO_PARENT: the graph is no child. */
static cudaError_t nodes_add(struct exec_nodes *nodes, const struct node *from, size_t *ends,
                             size_t parent)
{
    struct exec_node *node = exec_node_add(nodes, from, from->before_count);
    const size_t number = nodes->count - 1;
    cudaError_t error;

    if (node == NULL)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < from->before_count; i++)
        exec_node_wait(node, ends[from->before[i].from->mark]);
    node->programmatic =
        from->before_count == 1 && from->before[0].data.type == cudaGraphDependencyTypeProgrammatic;
    if (node->before_count == 0 && parent != NO_PARENT)
        exec_node_wait(node, parent);
    if (from->op.type == cudaGraphNodeTypeGraph) {
        node->op.type = cudaGraphNodeTypeGraph;
        error = nodes_add_graph(nodes, from->op.child, number);
        if (error == cudaSuccess)
            error = child_end(nodes, from, number + 1);
    } else {
        error = from->op.type == cudaGraphNodeTypeConditional
                    ? op_clone_condition(&node->op, &from->op)
                    : op_clone(&node->op, &from->op);
        if (error != cudaSuccess)
            node->op = (struct op){.type = cudaGraphNodeTypeEmpty}; /* it has no op of its own */
    }
    ends[from->mark] = nodes->count - 1;
    return error;
}

static cudaError_t nodes_add_graph(struct exec_nodes *nodes, const struct graph *graph,
                                   size_t parent)
{
    struct walk walk = {NULL, NULL, NULL, NULL};
    size_t *ends = calloc(graph->count + 1, sizeof(size_t));
    cudaError_t error = cudaErrorMemoryAllocation;

    if (ends != NULL && walk_make(&walk, graph)) {
        size_t known = walk_order(&walk, graph);

        error = known == graph->count ? cudaSuccess : cudaErrorInvalidValue;
        for (size_t i = 0; i < known && error == cudaSuccess; i++)
            error = nodes_add(nodes, graph->nodes[walk.queue[i]], ends, parent);
    }
    walk_free(&walk);
    free(ends);
    return error;
}

cudaError_t exec_nodes_init(struct exec_nodes *nodes, cudaGraph_t handle)
{
    cudaError_t error = cudaErrorInvalidValue;
    const struct graph *graph;

    *nodes = (struct exec_nodes){NULL, 0, 0};
    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL)
        error = nodes_add_graph(nodes, graph, NO_PARENT);
    graphs_leave();
    if (error != cudaSuccess)
        exec_nodes_deinit(nodes);
    return error;
}

int exec_nodes_device(const struct exec_nodes *nodes)
{
    int device = OP_ANYWHERE;

    for (size_t i = 0; i < nodes->count && device == OP_ANYWHERE; i++)
        device = op_device(&nodes->at[i].op);
    return device;
}

void exec_nodes_deinit(struct exec_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        op_free(&nodes->at[i].op);
        free(nodes->at[i].before);
    }
    free(nodes->at);
    *nodes = (struct exec_nodes){NULL, 0, 0};
}
