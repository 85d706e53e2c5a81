/* Where the ways through a graph come together again: the immediate postdominator of each node. The
 * iteration is that of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm"), on the
 * graph turned around. Any thread; a graph belongs to its caller. */
#ifndef GS_PTX_IR_WAYS_H
#define GS_PTX_IR_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#define WAYS_NONE UINT32_MAX

/* A graph whose ways all end in its last node. All zero: none. */
struct ways {
    uint32_t nodes, edges, room; /* room: edges that `to` has room for */
    uint32_t *outs; /* the edges of node n lead to to[outs[n]] .. to[outs[n + 1] - 1] */
    uint32_t *to;
    uint32_t *ins; /* the same edges turned around: they come from from[ins[n]] ... */
    uint32_t *from;
    uint32_t *meet; /* where all ways from the node come together first; WAYS_NONE: no way ends */
};

/* Makes a graph without edges. False: no memory. */
bool ways_init(struct ways *ways, uint32_t nodes);
/* Frees the graph, which is all zero then. */
void ways_deinit(struct ways *ways);
/* The edges that are added from now on are those of `node`; each node has its turn, in order. */
void ways_from(struct ways *ways, uint32_t node);
/* False: no memory. */
bool ways_add(struct ways *ways, uint32_t to);
/* Turns the edges around, once all nodes had their turn. False: no memory. */
bool ways_turn(struct ways *ways);
/* Finds `meet`, in so many steps at most. 0; -ENOMEM; -E2BIG: the ways are too tangled. */
int ways_meet(struct ways *ways, uint64_t steps);

#endif
