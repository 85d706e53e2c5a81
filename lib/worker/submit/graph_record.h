/*
 * graph_record.h - the records of a graph that a tenant has recorded, and what a launch changes in
 * them; see graph_record.c. The session's lane, or a job of the session.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_RECORD_H
#define GS_WORKER_SUBMIT_GRAPH_RECORD_H

#include "worker/submit/record.h"

struct job;

/* What the tenant has recorded, one record after the other: the worker's own copy, which never
 * changes. All zero: none. */
struct graph_records {
    unsigned char *memory;
    uint64_t bytes;
    uint32_t *offset; /* where the record of each step begins */
    uint32_t steps;
};

/* Copies the records and finds the steps among them, whose sizes it checks. On failure the job has
 * failed. */
gs_status graph_records_init(struct job *job, struct graph_records *records, const void *bytes,
                             uint64_t size);
void graph_records_deinit(struct graph_records *records);

/* One record of a graph, checked. */
struct graph_step {
    bool is_launch;
    bool is_order; /* a rec_after: the other members are not set */
    struct launch launch;
    struct transfer transfer;
};
/* Checks a record that has the size its header says, and that a graph may hold: a
 * cooperative launch, or one with a report or a QoS of its own, it may not. */
record_refusal graph_step_check(const struct session *session, unsigned char *record,
                                struct graph_step *step);

/* The serial of the kernel or host block that a step names, since their numbers are used again; 0:
 * it names none. */
uint64_t graph_step_serial(const struct session *session, const struct graph_step *step);

/* What follows a rec_graph: the worker's own copy of it. All zero: nothing. */
struct graph_changes {
    const unsigned char *bytes;
    uint32_t size;
};
#define NO_STEP UINT32_MAX

/* Whether the changes name steps of the graph in order, and bytes of these behind their headers.
 * The functions below take changes that have passed. */
record_refusal graph_changes_check(const struct graph_records *records,
                                   const struct graph_changes *changes);
/* The step that is changed at this offset among the changes; NO_STEP: it is their end. */
uint32_t graph_change_step(const struct graph_changes *changes, uint32_t at);
/* The offset behind the change there. */
uint32_t graph_change_next(const struct graph_changes *changes, uint32_t at);
/* Changes the step's record, if not NULL, as all changes of the step say, the first of which is at
 * this offset. Returns the offset behind them. *off: the step is left out. */
uint32_t graph_change_apply(const struct graph_changes *changes, uint32_t at, unsigned char *record,
                            bool *off);

#endif
