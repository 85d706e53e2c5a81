/*
 * recorded.h - an executable graph's steps as a graph of the session's, which goes as one message:
 * recorded when the graph is instantiated, and told before a launch what has changed since. The
 * executable graph owns one, under its lock.
 */
#ifndef GS_CUDART_RECORDED_H
#define GS_CUDART_RECORDED_H

#include "cudart/graph/graph.h"

/* What a step has become: calls of the session's graph, one after the other. */
struct recorded_step {
    unsigned first, count;
    bool off; /* the session has been told to leave them out */
};

/* All zero: there is none. */
struct recorded {
    gs_graph graph;
    unsigned device; /* the number of the device whose session has it */
    struct recorded_step *steps;
    unsigned *numbers; /* room for the numbers of all calls */
};

/* Records the steps for the call's device. What cannot be recorded leaves none, which is no
 * failure: the steps are given to a stream one by one then. */
void recorded_make(struct recorded *recorded, struct step *steps, size_t count);
void recorded_free(struct recorded *recorded);
/* Tells the session, which is the call's, which steps have changed and which are disabled, without
 * waiting for it. False: its graph cannot become so, and may be told in part. */
bool recorded_tell(struct recorded *recorded, struct step *steps, size_t count);
/* Forgets what the session of the call's device had, which is gone; its recorded graphs have to be
 * forgotten too. */
void recorded_forget(void);

#endif
