/* graph_list.c - lists of a graph's nodes and edges, for the program. */
#include "cudart/graph/graph_parts.h"

/* Arrays that the caller gave room for. */
struct list {
    cudaGraphNode_t *nodes;
    cudaGraphEdgeData *data; /* NULL: of no edges, or not wanted */
    size_t room, count;
    bool lossy; /* what is given leaves the data of an edge out */
};

/* edge NULL: none led to the node. */
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

    /* The rest of an array that is too long becomes NULL. */
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
    size_t place;

    for (size_t i = 0; i < graph->count; i++) {
        if (node_has_before(graph->nodes[i], node, &place))
            list_add(list, graph->nodes[i], &graph->nodes[i]->before[place]);
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
