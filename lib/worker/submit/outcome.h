/*
 * outcome.h - the outcome of a record that a drain (drain.c) has fetched; see outcome.c. Called by
 * the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_OUTCOME_H
#define GS_WORKER_SUBMIT_OUTCOME_H

#include "worker/submit/record.h"

enum outcome {
    RECORD_TAKEN,
    /* After these outcomes the record stays in the ring. */
    /* it waits for an event that another stream has not reached, or for something that is being
     * made: a partition, a graph, an algorithm */
    RECORD_STALLED,
    RECORD_ELSEWHERE, /* only the main lane may take it */
    RECORD_CALLED,    /* the client's function has not returned */
    RECORD_ENDED      /* it has ended the session */
};

/* Ends the session for a record that has failed a check. Returns RECORD_ENDED. */
enum outcome record_rejected(struct session *session, uint32_t index, record_refusal refusal);
/* Ends the session for work that the driver has refused. kernel: the kernel of the refused launch,
 * whose number is `launch`; NULL: the work was no launch. Does not return if the context is lost.
 * Returns RECORD_ENDED. */
enum outcome record_driver_refused(struct session *session, uint32_t index, CUresult result,
                                   const struct kernel *kernel, uint64_t launch);
/* Ends the session for a record at the stream's head that asks for something impossible. kernel:
 * that of the record's launch, or NULL. Returns RECORD_ENDED. */
enum outcome record_impossible(struct session *session, uint32_t index, gs_status status,
                               const struct kernel *kernel, const char *text);
/* Returns the outcome of a record whose driver calls had this result: taken, or the session
 * ends. */
enum outcome record_issued(struct session *session, uint32_t index, CUresult result);

#endif
