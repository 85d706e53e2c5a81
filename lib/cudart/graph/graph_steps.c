/* graph_steps.c - the order of a graph's nodes: see graph.h. */
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
            walk->first[graph->nodes[i]->before[j]->mark + 2]++;
    }
    for (size_t i = 2; i < graph->count + 2; i++)
        walk->first[i] += walk->first[i - 1];
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->before_count; j++)
            walk->after[walk->first[graph->nodes[i]->before[j]->mark + 1]++] = i;
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

static cudaError_t steps_add_graph(struct steps *steps, const struct graph *graph);

/* place: the step of each node of the graph. A child's steps come after the one of its node, so the
 * nodes after the child find theirs later. */
static cudaError_t steps_add_node(struct steps *steps, struct node *node, size_t *place)
{
    struct step *step = steps_next(steps);
    cudaError_t error;

    if (step == NULL)
        return cudaErrorMemoryAllocation;
    step->before = calloc(node->before_count + 1, sizeof(size_t));
    if (step->before == NULL)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < node->before_count; i++)
        step->before[step->before_count++] = place[node->before[i]->mark];
    step->node = node->handle;
    step->op = (struct op){.type = cudaGraphNodeTypeGraph};
    error = node->op.type == cudaGraphNodeTypeGraph ? cudaSuccess : op_clone(&step->op, &node->op);
    if (error != cudaSuccess) {
        free(step->before);
        return error;
    }
    place[node->mark] = steps->count++;
    return node->op.type == cudaGraphNodeTypeGraph ? steps_add_graph(steps, node->op.child)
                                                   : cudaSuccess;
}

static cudaError_t steps_add_graph(struct steps *steps, const struct graph *graph)
{
    struct walk walk = {NULL, NULL, NULL, NULL};
    size_t *place = calloc(graph->count + 1, sizeof(size_t));
    cudaError_t error = cudaErrorMemoryAllocation;

    if (place != NULL && walk_make(&walk, graph)) {
        size_t known = walk_order(&walk, graph);

        error = known == graph->count ? cudaSuccess : cudaErrorInvalidValue;
        for (size_t i = 0; i < known && error == cudaSuccess; i++)
            error = steps_add_node(steps, graph->nodes[walk.queue[i]], place);
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
        error = steps_add_graph(&steps, graph);
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

bool graph_joined(cudaGraph_t handle, const cudaGraphNode_t *ends, size_t end_count,
                  const cudaGraphNode_t *nodes, size_t count)
{
    const struct graph *graph;
    struct node **stack = NULL, *node;
    bool joined = false;
    size_t depth = 0;

    graphs_enter();
    graph = graph_find(handle);
    if (graph != NULL)
        stack = malloc((graph->count + 1) * sizeof(struct node *));
    if (stack != NULL) {
        for (size_t i = 0; i < graph->count; i++)
            graph->nodes[i]->mark = 0;
        for (size_t i = 0; i <= end_count; i++) {
            node = i < end_count ? node_find(ends[i]) : NULL;
            if (node != NULL && node->mark == 0) {
                node->mark = 1;
                stack[depth++] = node;
            }
            while (depth > 0) {
                node = stack[--depth];
                for (size_t j = 0; j < node->before_count; j++) {
                    if (node->before[j]->mark == 0) {
                        node->before[j]->mark = 1;
                        stack[depth++] = node->before[j];
                    }
                }
            }
        }
        joined = true;
        for (size_t i = 0; i < count && joined; i++) {
            node = node_find(nodes[i]);
            joined = node == NULL || node->mark == 1;
        }
    }
    graphs_leave();
    free(stack);
    return joined;
}
