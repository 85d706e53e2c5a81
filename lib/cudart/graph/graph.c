/* graph.c - see graph.h. */
#include "cudart/graph/graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/base/handles.h"
#include "cudart/graph/condition.h"
#include "cudart/graph/graph_parts.h"

#define NODES_MAX 524288u /* in all graphs together */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct handle_slot graph_slots[GRAPHS_MAX], node_slots[NODES_MAX];
static struct graph *graphs[GRAPHS_MAX];
static struct node *nodes[NODES_MAX];
static struct handles graph_handles = HANDLES_INIT(graph_slots, GRAPHS_MAX, 10);
static struct handles node_handles = HANDLES_INIT(node_slots, NODES_MAX, 13);

void graphs_enter(void)
{
    pthread_mutex_lock(&lock);
}

void graphs_leave(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- Parts: the lock is held ----------------------------------------------------------------- */

struct graph *graph_find(cudaGraph_t handle)
{
    int number = handles_find(&graph_handles, (uint64_t)(uintptr_t)handle);

    return number >= 0 ? graphs[number] : NULL;
}

struct node *node_find(cudaGraphNode_t handle)
{
    int number = handles_find(&node_handles, (uint64_t)(uintptr_t)handle);

    return number >= 0 ? nodes[number] : NULL;
}

/* Makes room for one more element in an array. */
static bool room_for_one(void *array, size_t size, size_t count, size_t *room)
{
    void **memory = array;
    size_t wanted = *room ? 2 * *room : 4;
    void *larger;

    if (count < *room)
        return true;
    larger = realloc(*memory, wanted * size);
    if (larger == NULL)
        return false;
    *memory = larger;
    *room = wanted;
    return true;
}

struct graph *graph_make(void)
{
    struct graph *graph = calloc(1, sizeof(*graph));
    uint64_t handle;
    int number = graph != NULL ? handles_take(&graph_handles, &handle) : -1;

    if (number < 0) {
        free(graph);
        return NULL;
    }
    graph->handle = (cudaGraph_t)(uintptr_t)handle; // NOLINT: a handle is a value
    graphs[number] = graph;
    handles_open(&graph_handles, number);
    return graph;
}

/* Takes ownership of the op on success. NULL: no memory, or too many nodes. */
static struct node *node_make(struct graph *graph, const struct op *op)
{
    struct node *node = calloc(1, sizeof(*node));
    uint64_t handle;
    int number = -1;

    if (node != NULL &&
        room_for_one(&graph->nodes, sizeof(struct node *), graph->count, &graph->room))
        number = handles_take(&node_handles, &handle);
    if (number < 0) {
        free(node);
        return NULL;
    }
    node->handle = (cudaGraphNode_t)(uintptr_t)handle; // NOLINT: a handle is a value
    node->graph = graph;
    node->op = *op;
    nodes[number] = node;
    handles_open(&node_handles, number);
    graph->nodes[graph->count++] = node;
    return node;
}

static bool node_add_before(struct node *node, struct node *before, cudaGraphEdgeData data)
{
    if (!room_for_one(&node->before, sizeof(struct edge), node->before_count, &node->before_room))
        return false;
    node->before[node->before_count++] = (struct edge){before, data};
    return true;
}

static const cudaGraphEdgeData ordinary;

bool edge_is_ordinary(const cudaGraphEdgeData *data)
{
    return memcmp(data, &ordinary, sizeof(ordinary)) == 0;
}

/* Element i of an array of edge data, which may be NULL: ordinary edges. */
static const cudaGraphEdgeData *data_at(const cudaGraphEdgeData *data, size_t i)
{
    return data != NULL ? &data[i] : &ordinary;
}

/* Whether such an edge can exist: only edges between kernels may be other than ordinary. */
static bool edge_fits(const struct op *from, const struct op *to, const cudaGraphEdgeData *data)
{
    static const unsigned char none[sizeof(data->reserved)];

    if (edge_is_ordinary(data))
        return true;
    return from->type == cudaGraphNodeTypeKernel && to->type == cudaGraphNodeTypeKernel &&
           data->type == cudaGraphDependencyTypeProgrammatic && data->to_port == 0 &&
           (data->from_port == cudaGraphKernelNodePortProgrammatic ||
            data->from_port == cudaGraphKernelNodePortLaunchCompletion) &&
           memcmp(data->reserved, none, sizeof(none)) == 0;
}

bool node_has_before(const struct node *node, const struct node *before, size_t *index)
{
    for (size_t i = 0; i < node->before_count; i++) {
        if (node->before[i].from == before) {
            *index = i;
            return true;
        }
    }
    return false;
}

static void node_drop_before(struct node *node, size_t index)
{
    node->before_count--;
    memmove(&node->before[index], &node->before[index + 1],
            (node->before_count - index) * sizeof(struct edge));
}

static void node_free(struct node *node)
{
    int number = handles_close(&node_handles, (uint64_t)(uintptr_t)node->handle);

    handles_free(&node_handles, number);
    op_free(&node->op);
    free(node->before);
    free(node);
}

void graph_free(struct graph *graph)
{
    int number = handles_close(&graph_handles, (uint64_t)(uintptr_t)graph->handle);

    handles_free(&graph_handles, number);
    for (size_t i = 0; i < graph->count; i++)
        node_free(graph->nodes[i]);
    free(graph->nodes);
    for (size_t i = 0; i < graph->condition_count; i++)
        condition_release(graph->conditions[i]);
    free(graph->conditions);
    user_refs_free(&graph->objects);
    free(graph);
}

struct graph *graph_copy(const struct graph *graph)
{
    struct graph *copy = graph_make();

    if (copy != NULL && !user_refs_copy(&copy->objects, &graph->objects)) {
        graph_free(copy);
        return NULL;
    }
    if (copy != NULL)
        copy->within_node = true;
    for (size_t i = 0; copy != NULL && i < graph->count; i++) {
        const struct node *from = graph->nodes[i];
        struct op op;
        struct node *node = op_clone(&op, &from->op) == cudaSuccess ? node_make(copy, &op) : NULL;

        if (node == NULL) {
            graph_free(copy);
            return NULL;
        }
        node->original = from->handle;
        graph->nodes[i]->mark = i;
    }
    for (size_t i = 0; copy != NULL && i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->before_count; j++) {
            const struct edge *edge = &graph->nodes[i]->before[j];

            if (node_add_before(copy->nodes[i], copy->nodes[edge->from->mark], edge->data))
                continue;
            graph_free(copy);
            return NULL;
        }
    }
    return copy;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

cudaError_t graph_new(cudaGraph_t *out)
{
    struct graph *graph;

    graphs_enter();
    graph = graph_make();
    if (graph != NULL)
        *out = graph->handle;
    graphs_leave();
    return graph != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

bool graph_is(cudaGraph_t handle)
{
    bool found;

    graphs_enter();
    found = graph_find(handle) != NULL;
    graphs_leave();
    return found;
}

bool graph_has_nodes(cudaGraph_t handle, const cudaGraphNode_t *list, size_t count)
{
    const struct graph *graph;
    bool has;

    graphs_enter();
    graph = graph_find(handle);
    has = graph != NULL;
    for (size_t i = 0; i < count && has; i++) {
        const struct node *node = node_find(list[i]);

        has = node != NULL && node->graph == graph;
    }
    graphs_leave();
    return has;
}

cudaError_t graph_end(cudaGraph_t handle)
{
    struct graph *graph;

    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL && graph->within_node)
        graph = NULL;
    if (graph != NULL)
        graph_free(graph);
    graphs_leave();
    return graph != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t graph_clone(cudaGraph_t handle, cudaGraph_t *out)
{
    cudaError_t error = cudaErrorInvalidValue;
    struct graph *graph;

    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL) {
        graph = graph_copy(graph);
        error = graph != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    if (error == cudaSuccess) {
        graph->within_node = false;
        *out = graph->handle;
    }
    graphs_leave();
    return error;
}

cudaError_t graph_add_locked(struct graph *graph, const cudaGraphNode_t *deps,
                             const cudaGraphEdgeData *data, size_t count, const struct op *op,
                             cudaGraphNode_t *out)
{
    struct node *node;

    if (graph == NULL || (deps == NULL && count != 0))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        const struct node *before = node_find(deps[i]);

        if (before == NULL || before->graph != graph ||
            !edge_fits(&before->op, op, data_at(data, i)))
            return cudaErrorInvalidValue;
    }
    node = node_make(graph, op);
    if (node == NULL)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < count; i++) {
        size_t index;

        if (!node_has_before(node, node_find(deps[i]), &index) &&
            !node_add_before(node, node_find(deps[i]), *data_at(data, i))) {
            graph->count--;
            node->op.type = cudaGraphNodeTypeEmpty; /* the caller frees the op */
            node_free(node);
            return cudaErrorMemoryAllocation;
        }
    }
    *out = node->handle;
    return cudaSuccess;
}

cudaError_t graph_add(cudaGraph_t handle, const cudaGraphNode_t *deps,
                      const cudaGraphEdgeData *data, size_t count, struct op *op,
                      cudaGraphNode_t *out)
{
    cudaError_t error = cudaErrorInvalidValue;

    graphs_enter();
    if (out != NULL)
        error = graph_add_locked(graph_find(handle), deps, data, count, op, out);
    if (error != cudaSuccess)
        op_free(op);
    graphs_leave();
    return error;
}

cudaError_t graph_add_child(cudaGraph_t handle, const cudaGraphNode_t *deps,
                            const cudaGraphEdgeData *data, size_t count, cudaGraph_t child,
                            cudaGraphNode_t *out)
{
    struct op op = {.type = cudaGraphNodeTypeGraph};
    cudaError_t error = cudaErrorInvalidValue;
    struct graph *from;

    graphs_enter();
    from = graph_find(child);
    if (out != NULL && from != NULL) {
        op.child = graph_copy(from);
        error = op.child != NULL ? graph_add_locked(graph_find(handle), deps, data, count, &op, out)
                                 : cudaErrorMemoryAllocation;
    }
    if (error != cudaSuccess)
        op_free(&op);
    graphs_leave();
    return error;
}

cudaError_t graph_add_condition(cudaGraph_t handle, struct condition *condition)
{
    cudaError_t error = cudaErrorInvalidValue;
    struct graph *graph;

    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL)
        error = cudaErrorMemoryAllocation;
    if (graph != NULL && room_for_one(&graph->conditions, sizeof(struct condition *),
                                      graph->condition_count, &graph->condition_room)) {
        graph->conditions[graph->condition_count++] = condition;
        error = cudaSuccess;
    }
    graphs_leave();
    return error;
}

static cudaError_t connect_locked(const struct graph *graph, struct node *before,
                                  struct node *after, const cudaGraphEdgeData *data, bool add)
{
    size_t index;

    if (graph == NULL || before == NULL || after == NULL || before == after ||
        before->graph != graph || after->graph != graph ||
        node_has_before(after, before, &index) == add)
        return cudaErrorInvalidValue;
    if (add ? !edge_fits(&before->op, &after->op, data)
            : memcmp(&after->before[index].data, data, sizeof(*data)) != 0)
        return cudaErrorInvalidValue;
    if (!add)
        node_drop_before(after, index);
    else if (!node_add_before(after, before, *data))
        return cudaErrorMemoryAllocation;
    return cudaSuccess;
}

cudaError_t graph_connect(cudaGraph_t handle, const cudaGraphNode_t *from,
                          const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count,
                          bool add)
{
    cudaError_t error = cudaSuccess;
    const struct graph *graph;

    graphs_enter();
    graph = graph_find(handle);
    if (graph == NULL || (count != 0 && (from == NULL || to == NULL)))
        error = cudaErrorInvalidValue;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = connect_locked(graph, node_find(from[i]), node_find(to[i]), data_at(data, i), add);
    graphs_leave();
    return error;
}

/* ---- Objects of the program ------------------------------------------------------------------ */

cudaError_t graph_retain(cudaGraph_t handle, cudaUserObject_t object, unsigned count)
{
    cudaError_t error = cudaErrorInvalidValue;
    struct graph *graph;

    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL)
        error =
            user_refs_add(&graph->objects, object, count) ? cudaSuccess : cudaErrorMemoryAllocation;
    graphs_leave();
    return error;
}

cudaError_t graph_release(cudaGraph_t handle, cudaUserObject_t object, unsigned count)
{
    cudaError_t error = cudaErrorInvalidValue;
    struct graph *graph;

    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL)
        error = user_refs_release(&graph->objects, object, count);
    graphs_leave();
    return error;
}

bool graph_objects_copy(cudaGraph_t handle, struct user_refs *to)
{
    const struct graph *graph;
    bool copied = false;

    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL)
        copied = user_refs_copy(to, &graph->objects);
    graphs_leave();
    return copied;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

cudaError_t node_op(cudaGraphNode_t handle, struct op *op)
{
    const struct node *node;

    graphs_enter();
    node = node_find(handle);
    if (node != NULL)
        *op = node->op;
    graphs_leave();
    return node != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t node_set(cudaGraphNode_t handle, struct op *op)
{
    cudaError_t error = cudaErrorInvalidValue;
    struct node *node;

    graphs_enter();
    node = node_find(handle);
    if (node != NULL && node->op.type == op->type) {
        struct op former = node->op;

        node->op = *op;
        *op = former;
        error = cudaSuccess;
    }
    op_free(op);
    graphs_leave();
    return error;
}

cudaError_t node_end(cudaGraphNode_t handle)
{
    struct node *node;
    struct graph *graph;
    size_t kept = 0, index;

    graphs_enter();
    node = node_find(handle);
    graph = node != NULL ? node->graph : NULL;
    for (size_t i = 0; graph != NULL && i < graph->count; i++) {
        if (node_has_before(graph->nodes[i], node, &index))
            node_drop_before(graph->nodes[i], index);
        if (graph->nodes[i] != node)
            graph->nodes[kept++] = graph->nodes[i];
    }
    if (graph != NULL) {
        graph->count = kept;
        node_free(node);
    }
    graphs_leave();
    return graph != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t node_child(cudaGraphNode_t handle, cudaGraph_t *graph)
{
    const struct node *node;
    cudaError_t error = cudaErrorInvalidValue;

    graphs_enter();
    node = node_find(handle);
    if (node != NULL && node->op.type == cudaGraphNodeTypeGraph) {
        *graph = node->op.child->handle;
        error = cudaSuccess;
    }
    graphs_leave();
    return error;
}

cudaError_t node_in_clone(cudaGraphNode_t handle, cudaGraph_t clone, cudaGraphNode_t *out)
{
    const struct graph *graph;
    cudaError_t error = cudaErrorInvalidValue;

    graphs_enter();
    graph = graph_find(clone);
    for (size_t i = 0; graph != NULL && i < graph->count; i++) {
        if (graph->nodes[i]->original == handle && handle != NULL) {
            *out = graph->nodes[i]->handle;
            error = cudaSuccess;
        }
    }
    graphs_leave();
    return error;
}
