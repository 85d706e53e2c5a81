/*
 * graph_record.h - the records of a graph that a tenant has recorded, and the changes that a launch
 * makes to them; see graph_record.c. Called by the session's lane, or by a job of the session.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_RECORD_H
#define GS_WORKER_SUBMIT_GRAPH_RECORD_H

#include "worker/submit/record.h"

struct job;

/* The worker's own copy of the records, one after the other. It never changes, except that unknown
 * tensor maps become zeros (record.c). Each record other than a REC_AFTER is a step. All zero: no
 * records. */
struct graph_records {
    unsigned char *memory;
    uint64_t bytes;
    uint32_t *offset; /* where each step's record begins */
    uint32_t steps;
};

/* Copies the records, checks that their sizes add up, and finds where the steps begin.
 * graph_step_check checks the rest of each record. On failure the job has failed. */
gs_status graph_records_init(struct job *job, struct graph_records *records, const void *bytes,
                             uint64_t size);
void graph_records_deinit(struct graph_records *records);

/* What a record that has passed its check asks for. */
struct graph_step {
    bool is_launch;
    bool is_order;            /* a rec_after; no other field is set */
    struct launch launch;     /* of a launch */
    struct transfer transfer; /* of a copy or memset */
};
/* Checks a record of a graph; `record` has as many bytes as its header says. A graph may hold
 * copies, memsets, orders and launches, but no launch that is cooperative or has a report or a
 * QoS. */
record_refusal graph_step_check(const struct session *session, unsigned char *record,
                                struct graph_step *step);

/* Returns the serial of the kernel or host block that a step names, since their numbers are used
 * again; 0: the step names none. */
uint64_t graph_step_serial(const struct session *session, const struct graph_step *step);

/* The changes that follow a rec_graph: rec_changes with their bytes, in the worker's own copy. All
 * zero: no changes. */
struct graph_changes {
    const unsigned char *bytes;
    uint32_t size;
};
#define NO_STEP UINT32_MAX

/* Checks that the changes name steps of the graph in ascending order, possibly one step several
 * times in succession, and bytes of the step's record after its header. The functions below require
 * changes that have passed this check. */
record_refusal graph_changes_check(const struct graph_records *records,
                                   const struct graph_changes *changes);
/* Returns the step that the change at this offset changes; NO_STEP: there are no more changes. */
uint32_t graph_change_step(const struct graph_changes *changes, uint32_t at);
/* Returns the offset after the change at this offset. */
uint32_t graph_change_next(const struct graph_changes *changes, uint32_t at);
/* Applies all changes of one step, the first of which is at this offset, to the step's record,
 * unless `record` is NULL. Returns the offset after them. *off: whether the launch leaves the step
 * out. */
uint32_t graph_change_apply(const struct graph_changes *changes, uint32_t at, unsigned char *record,
                            bool *off);

#endif
