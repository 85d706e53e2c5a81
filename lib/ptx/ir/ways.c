/* See ways.h. */
#include "ptx/ir/ways.h"

#include <errno.h>
#include <stdlib.h>

bool ways_init(struct ways *ways, uint32_t nodes)
{
    *ways = (struct ways){.nodes = nodes};
    ways->outs = calloc((size_t)nodes + 1, sizeof(*ways->outs));
    ways->ins = calloc((size_t)nodes + 2, sizeof(*ways->ins));
    ways->meet = malloc(((size_t)nodes + 1) * sizeof(*ways->meet));
    return ways->outs && ways->ins && ways->meet;
}

void ways_deinit(struct ways *ways)
{
    free(ways->outs);
    free(ways->to);
    free(ways->ins);
    free(ways->from);
    free(ways->meet);
    *ways = (struct ways){0};
}

void ways_from(struct ways *ways, uint32_t node)
{
    ways->outs[node] = ways->outs[node + 1] = ways->edges;
}

bool ways_add(struct ways *ways, uint32_t to)
{
    if (ways->edges == ways->room) {
        const uint32_t room = ways->room ? ways->room * 2 : 256;
        uint32_t *more = realloc(ways->to, room * sizeof(*more));

        if (!more)
            return false;
        ways->to = more;
        ways->room = room;
    }
    ways->to[ways->edges++] = to;
    return true;
}

bool ways_turn(struct ways *ways)
{
    ways->outs[ways->nodes] = ways->edges;
    ways->from = malloc(((size_t)ways->edges + 1) * sizeof(*ways->from));
    if (!ways->from)
        return false;
    /* An entry of `ins` moves on with each edge that is put in, and is the next node's at last. */
    for (uint32_t e = 0; e < ways->edges; e++)
        ways->ins[ways->to[e] + 2]++;
    for (uint32_t n = 0; n < ways->nodes; n++)
        ways->ins[n + 1] += ways->ins[n];
    for (uint32_t n = 0; n < ways->nodes; n++) {
        for (uint32_t e = ways->outs[n]; e < ways->outs[n + 1]; e++)
            ways->from[ways->ins[ways->to[e] + 1]++] = n;
    }
    return true;
}

/* Numbers the nodes from which the last one is reached, in the postorder of a walk from it against
 * the edges. order: the nodes by that number; stack: room for all of them. `meet` holds the next
 * edge of each node on the stack meanwhile. Returns the number of the last node, the largest. */
static uint32_t walk(struct ways *ways, uint32_t *number, uint32_t *order, uint32_t *stack)
{
    uint32_t depth = 0, met = 0;

    for (uint32_t n = 0; n < ways->nodes; n++) {
        number[n] = WAYS_NONE;
        ways->meet[n] = ways->ins[n];
    }
    stack[depth++] = ways->nodes - 1;
    number[ways->nodes - 1] = 0;
    while (depth) {
        const uint32_t n = stack[depth - 1];

        if (ways->meet[n] == ways->ins[n + 1]) {
            order[met] = n;
            number[n] = met++;
            depth--;
            continue;
        }
        const uint32_t from = ways->from[ways->meet[n]++];

        if (number[from] == WAYS_NONE) {
            number[from] = 0;
            stack[depth++] = from;
        }
    }
    for (uint32_t n = 0; n < ways->nodes; n++)
        ways->meet[n] = WAYS_NONE;
    return met - 1;
}

/* Where the ways of two nodes, which have a `meet`, come together. The steps are counted down. */
static uint32_t common(const struct ways *ways, const uint32_t *number, uint32_t a, uint32_t b,
                       uint64_t *steps)
{
    while (a != b && *steps) {
        --*steps;
        if (number[a] < number[b])
            a = ways->meet[a];
        else
            b = ways->meet[b];
    }
    return a;
}

/* Returns the node at which all ways from node n meet, as far as is known of the nodes behind it.
 */
static uint32_t meet_of(const struct ways *ways, const uint32_t *number, uint32_t n,
                        uint64_t *steps)
{
    uint32_t meet = WAYS_NONE;

    for (uint32_t e = ways->outs[n]; e < ways->outs[n + 1]; e++) {
        const uint32_t to = ways->to[e];

        *steps -= *steps > 0;
        if (ways->meet[to] != WAYS_NONE)
            meet = meet == WAYS_NONE ? to : common(ways, number, meet, to, steps);
    }
    return meet;
}

int ways_meet(struct ways *ways, uint64_t steps)
{
    const uint32_t nodes = ways->nodes;
    uint32_t *number = malloc(3 * (size_t)nodes * sizeof(*number));
    bool changed = true;

    if (!number)
        return -ENOMEM;
    const uint32_t *order = number + nodes;
    const uint32_t last = walk(ways, number, number + nodes, number + 2 * (size_t)nodes);

    ways->meet[nodes - 1] = nodes - 1;
    while (changed && steps) {
        changed = false;
        for (uint32_t i = last; i-- > 0 && steps;) {
            const uint32_t n = order[i], meet = meet_of(ways, number, n, &steps);

            changed |= meet != ways->meet[n];
            ways->meet[n] = meet;
        }
    }
    free(number);
    return steps > 0 ? 0 : -E2BIG;
}
