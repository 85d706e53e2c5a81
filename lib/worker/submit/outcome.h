/*
 * outcome.h - what has become of a record that a drain (drain.c) has fetched; see outcome.c. The
 * session's lane.
 */
#ifndef GS_WORKER_SUBMIT_OUTCOME_H
#define GS_WORKER_SUBMIT_OUTCOME_H

#include "worker/submit/record.h"

enum outcome {
    RECORD_TAKEN,
    /* The record stays in the ring: */
    /* it waits for an event that another stream has not reached, or for what is being made for it:
     * a partition, a graph, an algorithm */
    RECORD_STALLED,
    RECORD_ELSEWHERE, /* it is for the main lane */
    RECORD_CALLED,    /* the client's function has not returned */
    RECORD_ENDED      /* the session has ended for it */
};

/* Ends the session for a record that has failed a check. Returns RECORD_ENDED. */
enum outcome record_rejected(struct session *session, uint32_t index, record_refusal refusal);
/* Ends the session for work that the driver has refused; kernel: whose launch it was, with the
 * launch's number, or NULL. Does not return where the context is lost. Returns RECORD_ENDED. */
enum outcome record_driver_refused(struct session *session, uint32_t index, CUresult result,
                                   const struct kernel *kernel, uint64_t launch);
/* Ends the session for a record at the stream's head that asks for what cannot be; kernel: as
 * above. Returns RECORD_ENDED. */
enum outcome record_impossible(struct session *session, uint32_t index, gs_status status,
                               const struct kernel *kernel, const char *text);
/* The outcome of a record after the driver calls for it. */
enum outcome record_issued(struct session *session, uint32_t index, CUresult result);

#endif
