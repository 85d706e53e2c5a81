/*
 * raw_client.h - a client without libgshare: it speaks the wire itself, so that a test can send
 * what the library never would. Runs in a test's process or tenant; one thread.
 */
#ifndef GS_TEST_RAW_CLIENT_H
#define GS_TEST_RAW_CLIENT_H

#include <mqueue.h>

#include "common/request.h"
#include "common/wire.h"

struct raw_client {
    struct control control;
    struct ctl_attach_reply grant;
    unsigned char *segment;
    const struct status_page *page;
    struct seg_info info; /* a copy, for the original may get scribbled over */
    struct seg_client *client;
    struct seg_complete *complete;
    struct seg_server *server;
    struct seg_request *request;
    mqd_t bell;
    uint64_t tail[SEG_STREAMS];
};

/* Attaches as the library does. A refusal is returned; anything else that fails ends the test. */
gs_status raw_attach(struct raw_client *raw, const char *instance);
/* As raw_attach, without saying that the segment is mapped. */
gs_status raw_attach_unconfirmed(struct raw_client *raw, const char *instance);
void raw_confirm(struct raw_client *raw);
/* Detaches, waits until the server has closed the session, and drops everything. */
void raw_detach(struct raw_client *raw);
/* Drops everything without a word to the server. */
void raw_drop(struct raw_client *raw);

/* One doorbell message, whether the server wants one or not. */
void raw_bell(const struct raw_client *raw);
/* Sets an activity bit and rings. */
void raw_signal(struct raw_client *raw, unsigned bit);
/* Puts a record of `size` bytes (a multiple of REC_ALIGN) into a stream's ring and announces it. */
void raw_push(struct raw_client *raw, unsigned stream, const void *record, uint32_t size);

struct raw_request {
    uint32_t op;
    uint64_t arg[4];
    const char *name; /* may be NULL */
    uint64_t ret[4];
};
/* Posts a request and awaits its answer. GS_ERR_SERVER_LOST: the session was ended instead. Fails
 * the test when neither comes in 10 s. */
gs_status raw_ask(struct raw_client *raw, struct raw_request *request);

/* What records may name in a session. */
struct raw_belongings {
    uint64_t memory, memory_size; /* an allocation */
    uint32_t block;               /* a host block of 4096 bytes */
    uint32_t kernel;              /* one that touches no memory: 12 bytes of parameters */
};
/* Makes them, and stream 1. Checks. */
void raw_belongings_get(struct raw_client *raw, struct raw_belongings *b);

/* Whether the session is still open. */
bool raw_open(const struct raw_client *raw);

#endif
