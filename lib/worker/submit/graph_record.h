/*
 * graph_record.h - the records of a graph that a tenant has recorded, and what a launch changes in
 * them; see graph_record.c. The session's lane, or a job of the session.
 */
#ifndef GS_WORKER_SUBMIT_GRAPH_RECORD_H
#define GS_WORKER_SUBMIT_GRAPH_RECORD_H

#include "worker/submit/record.h"

struct job;

/* The records, one after the other, in a copy of the worker's own, which never changes, but that
 * unknown tensor maps become zeros (record.c). Each record but a REC_AFTER is a step. All zero:
 * none. */
struct graph_records {
    unsigned char *memory;
    uint64_t bytes;
    uint32_t *offset; /* where the record of each step begins */
    uint32_t steps;
};

/* Copies the records, checks that their sizes add up, and finds where the steps begin. What else a
 * record says graph_step_check checks. On failure the job has failed. */
gs_status graph_records_init(struct job *job, struct graph_records *records, const void *bytes,
                             uint64_t size);
void graph_records_deinit(struct graph_records *records);

/* What a record asks for that has passed its check. */
struct graph_step {
    bool is_launch;
    bool is_order;            /* a rec_after, of which nothing else is set */
    struct launch launch;     /* of a launch */
    struct transfer transfer; /* of a copy or memset */
};
/* Checks a record of a graph, in memory of the size that its header says. A graph holds copies,
 * memsets, orders and launches, but no cooperative launch, and none with a report or a QoS of its
 * own. */
record_refusal graph_step_check(const struct session *session, unsigned char *record,
                                struct graph_step *step);

/* The serial of the kernel or host block that a step names, since their numbers are used again; 0:
 * it names none. */
uint64_t graph_step_serial(const struct session *session, const struct graph_step *step);

/* What follows a rec_graph, rec_changes with their bytes, in a copy of the worker's own. All zero:
 * nothing. */
struct graph_changes {
    const unsigned char *bytes;
    uint32_t size;
};
#define NO_STEP UINT32_MAX

/* Checks that the changes name steps of the graph in ascending order, one of them perhaps several
 * times in succession, and bytes of the step's record behind its header. The functions below take
 * changes that have passed this check. */
record_refusal graph_changes_check(const struct graph_records *records,
                                   const struct graph_changes *changes);
/* The step that the change at this offset changes; NO_STEP: the changes end there. */
uint32_t graph_change_step(const struct graph_changes *changes, uint32_t at);
/* The offset behind the change there. */
uint32_t graph_change_next(const struct graph_changes *changes, uint32_t at);
/* Applies all changes of one step, the first of which is at this offset, to the step's record, if
 * that is not NULL. Returns the offset behind them. *off: whether the launch leaves the step out.
 */
uint32_t graph_change_apply(const struct graph_changes *changes, uint32_t at, unsigned char *record,
                            bool *off);

#endif
