/*
 * recorded.h - an executable graph's nodes as a graph of the session's (gs_graph_begin), which one
 * message launches. It is recorded when the graph is instantiated. Before a launch the session is
 * told what has changed since. The executable graph owns one, under its lock.
 *
 * A node becomes steps of the session's graph (gshare.h): one as a rule, none for an empty node,
 * several for a large copy.
 */
#ifndef GS_CUDART_RECORDED_H
#define GS_CUDART_RECORDED_H

#include "cudart/graph/exec_nodes.h"

/* All zero: there is none. */
struct recorded {
    gs_graph graph;
    unsigned device;   /* the number of the device whose session has it */
    unsigned *numbers; /* an array for gs_graph_change, with room for all steps' numbers */
};

/* Records the nodes for the call's device, in place of what there was. What cannot be recorded
 * leaves none, which is no failure: the nodes are given to a stream one by one then. */
void recorded_make(struct recorded *recorded, struct exec_nodes *nodes);
void recorded_free(struct recorded *recorded);
/* Tells the session of the call's device which nodes have changed and which are disabled, without
 * waiting for it. False: its graph cannot take some change, and may have taken others. */
bool recorded_tell(const struct recorded *recorded, struct exec_nodes *nodes);
/* The session of the call's device is gone: forgets the stream there that records changes. The
 * graphs that were recorded in it are for the caller to forget. */
void recorded_forget(void);

#endif
