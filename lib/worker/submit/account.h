/*
 * account.h - how what is issued comes into the accounts; see account.c. The session's lane.
 */
#ifndef GS_WORKER_SUBMIT_ACCOUNT_H
#define GS_WORKER_SUBMIT_ACCOUNT_H

#include "worker/partition/kernel_launch.h"
#include "worker/submit/completion.h"

enum issued_kind {
    ISSUED_END,      /* only what signals the end of earlier work */
    ISSUED_LAUNCHES, /* of one shape */
    ISSUED_REQUEST,  /* launches of any shapes */
    ISSUED_GRAPH,    /* a recorded graph */
    ISSUED_PRODUCT,  /* a product of matrices */
    ISSUED_EVENT,
    ISSUED_HOST,     /* nothing: a function of the client's has returned */
    ISSUED_TRANSFER, /* a copy or memset */
    ISSUED_WAIT
};

/* The work that a driver call has given the device. */
struct issued {
    enum issued_kind kind;
    uint32_t count; /* of launches */
    const struct launch *launches;
    uint64_t bytes;    /* of a transfer */
    uint16_t work;     /* for the trace, but of launches: the record's kind; REC_COPY of a box */
    uint64_t position; /* ring position after the last of its records */
    enum completion completion; /* how the device signals the end of all work up to there */
};

/* Called before a driver call that issues work, because the device may have done the work when the
 * call returns. */
void account_issuing(const struct session *session, struct stream *stream);
/* Called right after the call: the next one may find the context lost, and then it matters whose
 * work was on the device. What becomes of the work is found by inflight_poll_all. */
void account_issued(struct session *session, struct stream *stream, const struct issued *issued);

#endif
