/* The immediate postdominators of the nodes of a graph: for each node, the first node at which all
 * paths from it come together. The iteration is that of Cooper, Harvey and Kennedy ("A Simple, Fast
 * Dominance Algorithm"), on the reversed graph. Any thread; a graph belongs to its caller. */
#ifndef GS_PTX_IR_POSTDOM_H
#define GS_PTX_IR_POSTDOM_H

#include <stdbool.h>
#include <stdint.h>

#define POSTDOM_NONE UINT32_MAX

/* A graph whose paths all end in its last node. All zero: there is none. */
struct postdom {
    uint32_t nodes, edges, room; /* room: edges that `to` has room for */
    uint32_t *outs; /* the edges of node n lead to to[outs[n]] .. to[outs[n + 1] - 1] */
    uint32_t *to;
    uint32_t *ins; /* the edges to node n come from from[ins[n]] .. from[ins[n + 1] - 1] */
    uint32_t *from;
    uint32_t *ipdom; /* immediate postdominators; POSTDOM_NONE: the last node is not reached */
};

/* Makes a graph without edges. False: no memory. */
bool postdom_init(struct postdom *graph, uint32_t nodes);
/* Frees the graph and zeroes it. */
void postdom_deinit(struct postdom *graph);
/* Edges that are added from now on start at `node`. Called once for each node, in order. */
void postdom_node(struct postdom *graph, uint32_t node);
/* Adds an edge to node TO. False: no memory. */
bool postdom_add(struct postdom *graph, uint32_t to);
/* Makes the reversed edges, when all edges were added. False: no memory. */
bool postdom_reverse(struct postdom *graph);
/* Fills `ipdom`, in at most STEPS steps. 0; -ENOMEM; -E2BIG: it takes more steps. */
int postdom_find(struct postdom *graph, uint64_t steps);

#endif
