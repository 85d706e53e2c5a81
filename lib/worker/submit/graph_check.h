/*
 * graph_check.h - whether all that the records of a tenant's graph name is still there; see
 * graph_check.c. The session's lane.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_CHECK_H
#define GS_WORKER_SUBMIT_GRAPH_CHECK_H

#include "worker/submit/graph_record.h"

/* The last check of a graph, and the one in progress. */
struct graph_check {
    uint64_t
        made_serial; /* session->serial when the graph was made: the graph names nothing newer */
    uint64_t done_generation; /* session->memory.generation when all steps were last checked */
    uint64_t generation;      /* the same of the check in progress ... */
    uint32_t step;            /* ... and the step that it checks next */
    uint32_t stale_count;     /* how many steps have failed */
    uint64_t stale[SEG_GRAPH_NODES / 64]; /* these steps, a bit each */
    record_refusal stale_text;            /* why the first of them has failed */
};

/* For a graph that the session makes now, from records that have been checked. */
struct graph_check graph_check_of_new(const struct session *session);
/* For a graph that a former worker made when the session's serial was `made_serial`: its records
 * are checked at its first launch. */
struct graph_check graph_check_of_old(uint64_t made_serial);

/* Goes on with the check, if anything was freed since the last one. Returns true once all steps
 * have been checked. *in_clusters becomes true where a kernel of the graph runs in clusters. */
bool graph_check_done(struct session *session, struct graph_check *check,
                      const struct graph_records *records, bool *in_clusters);
/* Why a launch with these changes is refused; NULL: it is not. A step that has failed is refused
 * only where the launch neither changes it nor leaves it out. */
record_refusal graph_check_refusal(const struct graph_check *check,
                                   const struct graph_changes *changes);

#endif
