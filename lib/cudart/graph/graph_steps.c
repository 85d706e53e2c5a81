/* graph_steps.c - the order of a graph's nodes: see graph.h. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/graph/graph_parts.h"

struct steps {
    struct step *step;
    size_t count, room;
};

/* ---- Order: the lock is held ----------------------------------------------------------------- */

/* What a walk over a graph needs: nodes after each, as one array in parts, and a queue. */
struct walk {
    size_t *waits; /* how many nodes each still waits for */
    size_t *first; /* where its part of `after` begins; one more for the end */
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
    /* Two places on, so that filling the parts leaves each beginning at its own place. */
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

/* Fills the queue with the nodes' numbers in order; how many there are: fewer where the edges form
 * a cycle. */
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

/* ---- Steps ----------------------------------------------------------------------------------- */

static struct step *steps_next(struct steps *steps)
{
    size_t wanted = steps->room ? 2 * steps->room : 16;
    struct step *larger;

    if (steps->count == steps->room) {
        larger = realloc(steps->step, wanted * sizeof(*larger));
        if (larger == NULL)
            return NULL;
        steps->step = larger;
        steps->room = wanted;
    }
    steps->step[steps->count] = (struct step){0};
    return &steps->step[steps->count];
}

#define NO_STEP SIZE_MAX

static cudaError_t steps_add_graph(struct steps *steps, const struct graph *graph, size_t parent);

/* Adds a step of the node with room for what it waits for. NULL: there is no memory. */
static struct step *step_add(struct steps *steps, const struct node *node, size_t before)
{
    struct step *step = steps_next(steps);

    if (step == NULL)
        return NULL;
    step->before = calloc(before + 1, sizeof(size_t));
    if (step->before == NULL)
        return NULL;
    step->node = node->handle;
    step->op = (struct op){.type = cudaGraphNodeTypeEmpty};
    steps->count++;
    return step;
}

/* Adds the end of a child graph, whose steps begin at `first`: it waits for those that no other one
 * of them waits for. */
static cudaError_t child_end(struct steps *steps, const struct node *node, size_t first)
{
    const size_t count = steps->count - first;
    bool *waited = calloc(count + 1, sizeof(bool));
    struct step *end = waited != NULL ? step_add(steps, node, count + 1) : NULL;

    if (end != NULL)
        end->ends_child = true;
    for (size_t i = first; end != NULL && i < first + count; i++) {
        for (size_t j = 0; j < steps->step[i].before_count; j++) {
            if (steps->step[i].before[j] >= first)
                waited[steps->step[i].before[j] - first] = true;
        }
    }
    for (size_t i = 0; end != NULL && i < count; i++) {
        if (!waited[i])
            end->before[end->before_count++] = first + i;
    }
    if (end != NULL && count == 0)
        end->before[end->before_count++] = first - 1;
    free(waited);
    return end != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* place: the step at which each node of the graph ends. parent: the step that a child graph's first
 * nodes wait for; NO_STEP: it is no child. */
static cudaError_t steps_add_node(struct steps *steps, struct node *node, size_t *place,
                                  size_t parent)
{
    struct step *step = step_add(steps, node, node->before_count);
    const size_t number = steps->count - 1;
    cudaError_t error = cudaSuccess;

    if (step == NULL)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < node->before_count; i++)
        step->before[step->before_count++] = place[node->before[i].from->mark];
    step->programmatic =
        node->before_count == 1 && node->before[0].data.type == cudaGraphDependencyTypeProgrammatic;
    if (step->before_count == 0 && parent != NO_STEP)
        step->before[step->before_count++] = parent;
    place[node->mark] = number; /* a child graph ends later */
    if (node->op.type != cudaGraphNodeTypeGraph) {
        error = op_clone(&step->op, &node->op);
        if (error != cudaSuccess)
            step->op = (struct op){.type = cudaGraphNodeTypeEmpty}; /* it has nothing of its own */
        return error;
    }
    step->op.type = cudaGraphNodeTypeGraph;
    error = steps_add_graph(steps, node->op.child, number);
    if (error == cudaSuccess)
        error = child_end(steps, node, number + 1);
    place[node->mark] = steps->count - 1;
    return error;
}

static cudaError_t steps_add_graph(struct steps *steps, const struct graph *graph, size_t parent)
{
    struct walk walk = {NULL, NULL, NULL, NULL};
    size_t *place = calloc(graph->count + 1, sizeof(size_t));
    cudaError_t error = cudaErrorMemoryAllocation;

    if (place != NULL && walk_make(&walk, graph)) {
        size_t known = walk_order(&walk, graph);

        error = known == graph->count ? cudaSuccess : cudaErrorInvalidValue;
        for (size_t i = 0; i < known && error == cudaSuccess; i++)
            error = steps_add_node(steps, graph->nodes[walk.queue[i]], place, parent);
    }
    walk_free(&walk);
    free(place);
    return error;
}

void steps_free(struct step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        op_free(&steps[i].op);
        free(steps[i].before);
    }
    free(steps);
}

cudaError_t graph_steps(cudaGraph_t handle, struct step **out, size_t *count)
{
    struct steps steps = {NULL, 0, 0};
    cudaError_t error = cudaErrorInvalidValue;
    const struct graph *graph;

    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL)
        error = steps_add_graph(&steps, graph, NO_STEP);
    graphs_leave();
    if (error != cudaSuccess) {
        steps_free(steps.step, steps.count);
        return error;
    }
    *out = steps.step;
    *count = steps.count;
    return cudaSuccess;
}

/* ---- Ancestors, for the end of a capture ----------------------------------------------------- */

enum { NOT_REACHED = 0, REACHED = 1 }; /* a node's mark */

static void reach(struct node **stack, size_t *depth, struct node *node)
{
    if (node->mark == REACHED)
        return;
    node->mark = REACHED;
    stack[(*depth)++] = node;
}

/* Marks the ends and all that comes before them. stack: has room for each node of the graph; a node
 * is there once at most. */
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
