/*
 * graph_check.h - checks whether everything that the records of a tenant's graph name still exists;
 * see graph_check.c. Called by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_CHECK_H
#define GS_WORKER_SUBMIT_GRAPH_CHECK_H

#include "worker/submit/graph_record.h"

/* The last check of a graph, and the check in progress. */
struct graph_check {
    uint64_t
        made_serial; /* session->serial when the graph was made; the graph names nothing newer */
    uint64_t done_generation; /* session->memory.generation when all steps were last checked */
    uint64_t generation;      /* session->memory.generation when the check in progress began */
    uint32_t step;            /* the step that the check in progress checks next */
    uint32_t stale_count;     /* how many steps have failed their check */
    uint64_t stale[SEG_GRAPH_NODES / 64]; /* the failed steps, one bit each */
    record_refusal stale_text;            /* why the first of these has failed */
};

/* Returns the state for a graph that is made now from checked records. */
struct graph_check graph_check_of_new(const struct session *session);
/* Returns the state for a graph that a former worker made when the session's serial was
 * `made_serial`. The records of such a graph are checked at its first launch. */
struct graph_check graph_check_of_old(uint64_t made_serial);

/* Continues the check, if anything was freed since the last one. Returns true once all steps have
 * been checked. *in_clusters: set to true if a kernel of the graph runs in clusters. */
bool graph_check_done(struct session *session, struct graph_check *check,
                      const struct graph_records *records, bool *in_clusters);
/* Returns why a launch with these changes is refused; NULL: it is not. A step that has failed its
 * check is no reason if the launch changes the step or leaves it out. */
record_refusal graph_check_refusal(const struct graph_check *check,
                                   const struct graph_changes *changes);

#endif
