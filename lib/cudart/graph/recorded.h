/*
 * recorded.h - the nodes of an executable graph as a graph of the session (gs_graph_begin), which
 * is launched by one message. It is recorded when the graph is instantiated; before a launch the
 * session gets the changes since then. Each executable graph owns one, under its lock.
 *
 * A node results in steps of the session's graph (gshare.h): usually one, none for an empty node,
 * several for a large copy.
 */
#ifndef GS_CUDART_RECORDED_H
#define GS_CUDART_RECORDED_H

#include "cudart/graph/exec_nodes.h"

/* All zero: nothing is recorded. */
struct recorded {
    gs_graph graph;
    unsigned device;   /* the number of the device whose session has it */
    unsigned *numbers; /* for gs_graph_change, with room for the numbers of all steps */
};

/* Records the nodes for the call's device, replacing the former graph. Nodes that cannot be
 * recorded leave none, which is no failure: they are submitted to a stream one by one then. */
void recorded_make(struct recorded *recorded, struct exec_nodes *nodes);
void recorded_free(struct recorded *recorded);
/* Tells the session of the call's device, without waiting, which nodes have changed and which are
 * disabled. False: its graph cannot take some change, and may have taken others. */
bool recorded_tell(const struct recorded *recorded, struct exec_nodes *nodes);
/* The session of the call's device is gone: forgets its stream for recording changes. The caller
 * forgets the graphs recorded in it. */
void recorded_forget(void);

#endif
