/*
 * recorded.h - an executable graph's steps as a graph of the session's (gs_graph_begin), which one
 * message launches. It is recorded when the graph is instantiated. Before a launch the session is
 * told what has changed since. The executable graph owns one, under its lock.
 *
 * A step here is the executable graph's. The calls that recording it makes are the steps of the
 * session's graph in gshare.h: one as a rule, none for an empty node, several for a large copy.
 */
#ifndef GS_CUDART_RECORDED_H
#define GS_CUDART_RECORDED_H

#include "cudart/graph/graph.h"

/* The calls of a step, which are one after the other in the session's graph. */
struct recorded_step {
    unsigned first, count; /* their numbers in it */
    bool off;              /* the session has been told to leave them out */
};

/* All zero: there is none. */
struct recorded {
    gs_graph graph;
    unsigned device; /* the number of the device whose session has it */
    struct recorded_step *steps;
    unsigned *numbers; /* an array for gs_graph_change, with room for all calls' numbers */
};

/* Records the steps for the call's device. What cannot be recorded leaves none, which is no
 * failure: the steps are given to a stream one by one then. */
void recorded_make(struct recorded *recorded, struct step *steps, size_t count);
void recorded_free(struct recorded *recorded);
/* Tells the session of the call's device which steps have changed and which are disabled, without
 * waiting for it. False: its graph cannot take some change, and may have taken others. */
bool recorded_tell(struct recorded *recorded, struct step *steps, size_t count);
/* The session of the call's device is gone: forgets the stream there that records changes. The
 * graphs that were recorded in it are for the caller to forget. */
void recorded_forget(void);

#endif
