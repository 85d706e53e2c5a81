/* graph_list.c - queries of a graph's nodes and edges: lists for the program, and ancestors, for
 * the end of a capture. */
#include <stdlib.h>

#include "cudart/graph/graph_parts.h"

/* Arrays that the caller provides. */
struct list {
    cudaGraphNode_t *nodes;
    cudaGraphEdgeData *data; /* NULL: not wanted, or the list has no edges */
    size_t room, count;
    bool lossy; /* the data of some edge was not returned */
};

/* edge NULL: the node was reached by no edge. */
static void list_add(struct list *list, const struct node *node, const struct edge *edge)
{
    if (list->nodes != NULL && list->count < list->room) {
        list->nodes[list->count] = node->handle;
        if (list->data != NULL)
            list->data[list->count] = edge->data;
        else if (edge != NULL && !edge_is_ordinary(&edge->data))
            list->lossy = true;
    }
    list->count++;
}

static void list_give(struct list *list, size_t *count)
{
    size_t given = list->nodes != NULL && list->count > list->room ? list->room : list->count;

    /* Unused elements of the array become NULL. */
    for (size_t i = given; list->nodes != NULL && i < list->room; i++)
        list->nodes[i] = NULL;
    *count = given;
}

cudaError_t graph_nodes(cudaGraph_t handle, bool roots, cudaGraphNode_t *out, size_t *count)
{
    struct list list = {.nodes = out, .room = count != NULL ? *count : 0};
    const struct graph *graph;

    if (count == NULL)
        return cudaErrorInvalidValue;
    graphs_enter();
    graph = graph_find(handle);
    for (size_t i = 0; graph != NULL && i < graph->count; i++) {
        if (!roots || graph->nodes[i]->before_count == 0)
            list_add(&list, graph->nodes[i], NULL);
    }
    graphs_leave();
    if (graph == NULL)
        return cudaErrorInvalidValue;
    list_give(&list, count);
    return cudaSuccess;
}

cudaError_t graph_edges(cudaGraph_t handle, cudaGraphNode_t *from, cudaGraphNode_t *to,
                        cudaGraphEdgeData *data, size_t *count)
{
    struct list first = {.nodes = from, .data = data, .room = count != NULL ? *count : 0};
    struct list second = {.nodes = to, .room = first.room};
    const struct graph *graph;

    if (count == NULL || (from == NULL) != (to == NULL))
        return cudaErrorInvalidValue;
    graphs_enter();
    graph = graph_find(handle);
    for (size_t i = 0; graph != NULL && i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->before_count; j++) {
            const struct edge *edge = &graph->nodes[i]->before[j];

            list_add(&first, edge->from, edge);
            list_add(&second, graph->nodes[i], NULL);
        }
    }
    graphs_leave();
    if (graph == NULL)
        return cudaErrorInvalidValue;
    if (first.lossy)
        return cudaErrorLossyQuery;
    list_give(&first, count);
    list_give(&second, count);
    return cudaSuccess;
}

static void dependents_list(const struct node *node, struct list *list)
{
    const struct graph *graph = node->graph;
    size_t index;

    for (size_t i = 0; i < graph->count; i++) {
        if (node_has_before(graph->nodes[i], node, &index))
            list_add(list, graph->nodes[i], &graph->nodes[i]->before[index]);
    }
}

cudaError_t node_neighbours(cudaGraphNode_t handle, bool dependents, cudaGraphNode_t *out,
                            cudaGraphEdgeData *data, size_t *count)
{
    struct list list = {.nodes = out, .data = data, .room = count != NULL ? *count : 0};
    const struct node *node;

    if (count == NULL)
        return cudaErrorInvalidValue;
    graphs_enter();
    node = node_find(handle);
    if (node != NULL && dependents)
        dependents_list(node, &list);
    for (size_t i = 0; node != NULL && !dependents && i < node->before_count; i++)
        list_add(&list, node->before[i].from, &node->before[i]);
    graphs_leave();
    if (node == NULL)
        return cudaErrorInvalidValue;
    if (list.lossy)
        return cudaErrorLossyQuery;
    list_give(&list, count);
    return cudaSuccess;
}

/* ---- Ancestors, for the end of a capture ----------------------------------------------------- */

enum { NOT_REACHED = 0, REACHED = 1 }; /* values of a node's mark */

static void reach(struct node **stack, size_t *depth, struct node *node)
{
    if (node->mark == REACHED)
        return;
    node->mark = REACHED;
    stack[(*depth)++] = node;
}

/* Marks the ends and all of their ancestors. stack has room for each node of the graph; a node is
 * pushed at most once. */
static void ancestors_mark(struct node **stack, const cudaGraphNode_t *ends, size_t end_count)
{
    size_t depth = 0;

    for (size_t i = 0; i < end_count; i++) {
        struct node *end = node_find(ends[i]);

        if (end != NULL)
            reach(stack, &depth, end);
    }
    while (depth > 0) {
        const struct node *node = stack[--depth];

        for (size_t i = 0; i < node->before_count; i++)
            reach(stack, &depth, node->before[i].from);
    }
}

bool graph_joined(cudaGraph_t handle, const cudaGraphNode_t *ends, size_t end_count,
                  const cudaGraphNode_t *nodes, size_t count)
{
    const struct graph *graph;
    struct node **stack = NULL;
    bool joined;

    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL)
        stack = malloc((graph->count + 1) * sizeof(struct node *));
    joined = stack != NULL;
    if (joined) {
        for (size_t i = 0; i < graph->count; i++)
            graph->nodes[i]->mark = NOT_REACHED;
        ancestors_mark(stack, ends, end_count);
    }
    for (size_t i = 0; i < count && joined; i++) {
        const struct node *node = node_find(nodes[i]);

        joined = node == NULL || node->mark == REACHED;
    }
    graphs_leave();
    free(stack);
    return joined;
}
