/* See postdom.h. */
#include "ptx/ir/postdom.h"

#include <errno.h>
#include <stdlib.h>

bool postdom_init(struct postdom *graph, uint32_t nodes)
{
    *graph = (struct postdom){.nodes = nodes};
    graph->outs = calloc((size_t)nodes + 1, sizeof(*graph->outs));
    graph->ins = calloc((size_t)nodes + 2, sizeof(*graph->ins));
    graph->ipdom = malloc(((size_t)nodes + 1) * sizeof(*graph->ipdom));
    return graph->outs && graph->ins && graph->ipdom;
}

void postdom_deinit(struct postdom *graph)
{
    free(graph->outs);
    free(graph->to);
    free(graph->ins);
    free(graph->from);
    free(graph->ipdom);
    *graph = (struct postdom){0};
}

void postdom_node(struct postdom *graph, uint32_t node)
{
    graph->outs[node] = graph->outs[node + 1] = graph->edges;
}

bool postdom_add(struct postdom *graph, uint32_t to)
{
    if (graph->edges == graph->room) {
        const uint32_t room = graph->room ? graph->room * 2 : 256;
        uint32_t *more = realloc(graph->to, room * sizeof(*more));

        if (!more)
            return false;
        graph->to = more;
        graph->room = room;
    }
    graph->to[graph->edges++] = to;
    return true;
}

bool postdom_reverse(struct postdom *graph)
{
    graph->outs[graph->nodes] = graph->edges;
    graph->from = malloc(((size_t)graph->edges + 1) * sizeof(*graph->from));
    if (!graph->from)
        return false;
    /* Each stored edge advances an entry of `ins`, which ends as the beginning of the next node. */
    for (uint32_t e = 0; e < graph->edges; e++)
        graph->ins[graph->to[e] + 2]++;
    for (uint32_t n = 0; n < graph->nodes; n++)
        graph->ins[n + 1] += graph->ins[n];
    for (uint32_t n = 0; n < graph->nodes; n++) {
        for (uint32_t e = graph->outs[n]; e < graph->outs[n + 1]; e++)
            graph->from[graph->ins[graph->to[e] + 1]++] = n;
    }
    return true;
}

/* Numbers the nodes from which the last one can be reached, in postorder on the reversed graph.
 * order: the nodes by that number; stack: room for all of them. Meanwhile `ipdom` holds the next
 * edge of each node on the stack. Returns the number of the last node, which is the largest. */
static uint32_t walk(struct postdom *graph, uint32_t *number, uint32_t *order, uint32_t *stack)
{
    uint32_t depth = 0, met = 0;

    for (uint32_t n = 0; n < graph->nodes; n++) {
        number[n] = POSTDOM_NONE;
        graph->ipdom[n] = graph->ins[n];
    }
    stack[depth++] = graph->nodes - 1;
    number[graph->nodes - 1] = 0;
    while (depth) {
        const uint32_t n = stack[depth - 1];

        if (graph->ipdom[n] == graph->ins[n + 1]) {
            order[met] = n;
            number[n] = met++;
            depth--;
            continue;
        }
        const uint32_t from = graph->from[graph->ipdom[n]++];

        if (number[from] == POSTDOM_NONE) {
            number[from] = 0;
            stack[depth++] = from;
        }
    }
    for (uint32_t n = 0; n < graph->nodes; n++)
        graph->ipdom[n] = POSTDOM_NONE;
    return met - 1;
}

/* The first common postdominator of two nodes that have an `ipdom`. Counts the steps down. */
static uint32_t common(const struct postdom *graph, const uint32_t *number, uint32_t a, uint32_t b,
                       uint64_t *steps)
{
    while (a != b && *steps) {
        --*steps;
        if (number[a] < number[b])
            a = graph->ipdom[a];
        else
            b = graph->ipdom[b];
    }
    return a;
}

/* The first node at which all paths from node n come together, as far as its successors are known.
 */
static uint32_t meet_of(const struct postdom *graph, const uint32_t *number, uint32_t n,
                        uint64_t *steps)
{
    uint32_t meet = POSTDOM_NONE;

    for (uint32_t e = graph->outs[n]; e < graph->outs[n + 1]; e++) {
        const uint32_t to = graph->to[e];

        *steps -= *steps > 0;
        if (graph->ipdom[to] != POSTDOM_NONE)
            meet = meet == POSTDOM_NONE ? to : common(graph, number, meet, to, steps);
    }
    return meet;
}

int postdom_find(struct postdom *graph, uint64_t steps)
{
    const uint32_t nodes = graph->nodes;
    uint32_t *number = malloc(3 * (size_t)nodes * sizeof(*number));
    bool changed = true;

    if (!number)
        return -ENOMEM;
    const uint32_t *order = number + nodes;
    const uint32_t last = walk(graph, number, number + nodes, number + 2 * (size_t)nodes);

    graph->ipdom[nodes - 1] = nodes - 1;
    while (changed && steps) {
        changed = false;
        for (uint32_t i = last; i-- > 0 && steps;) {
            const uint32_t n = order[i], meet = meet_of(graph, number, n, &steps);

            changed |= meet != graph->ipdom[n];
            graph->ipdom[n] = meet;
        }
    }
    free(number);
    return steps > 0 ? 0 : -E2BIG;
}
