/*
 * account.h - accounts for issued work; see account.c. Called by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_ACCOUNT_H
#define GS_WORKER_SUBMIT_ACCOUNT_H

#include "worker/partition/kernel_launch.h"
#include "worker/submit/completion.h"

enum issued_kind {
    ISSUED_END,      /* only a signal of the end of earlier work */
    ISSUED_LAUNCHES, /* launches of one shape */
    ISSUED_REQUEST,  /* launches of any shapes */
    ISSUED_GRAPH,    /* a recorded graph */
    ISSUED_PRODUCT,  /* a product of matrices */
    ISSUED_EVENT,
    ISSUED_HOST,     /* nothing on the device: a host function of the client has returned */
    ISSUED_TRANSFER, /* a copy or memset */
    ISSUED_WAIT
};

/* The work that a driver call has issued. */
struct issued {
    enum issued_kind kind;
    uint32_t count; /* of launches */
    const struct launch *launches;
    uint64_t bytes; /* the bytes of a transfer */
    /* the record's kind (REC_COPY for a box), for the trace; not used for launches */
    uint16_t work;
    uint64_t position;          /* the ring position after the last of its records */
    enum completion completion; /* how the device signals the end of all work up to `position` */
};

/* Notes that work is about to be issued. Called before the driver call, because the device may have
 * done the work when the call returns. */
void account_issuing(const struct session *session, struct stream *stream);
/* Accounts for the issued work. Called right after the driver call: the next call may find the
 * context lost, and then it matters whose work was on the device. inflight_poll_all finds out when
 * the work has ended. */
void account_issued(struct session *session, struct stream *stream, const struct issued *issued);

#endif
