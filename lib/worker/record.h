/* record.h - ring records: checked and issued; see record.c. Dispatcher. */
#ifndef GS_WORKER_RECORD_H
#define GS_WORKER_RECORD_H

#include "worker/launch.h"

/* What a record is wrong for, for people. NULL: it is right. */
typedef const char *record_fault;

/* Checks a launch whose `size` bytes at `record` are the worker's own copy; fills *launch, whose
 * params point into it. */
record_fault record_check_launch(const struct session *session, unsigned char *record,
                                 uint32_t size, struct launch *launch);
/* Where a session's launches of a stream run, unless they say otherwise. */
void launch_place(const struct session *session, const struct stream *stream,
                  struct launch *launch);

/* A checked copy or memset, as the driver wants it. */
struct transfer {
    enum { TRANSFER_HTOD, TRANSFER_DTOH, TRANSFER_DTOD, TRANSFER_SET } kind;
    CUdeviceptr dst, src;
    unsigned char *host;
    uint64_t bytes;
    unsigned char value;
    uint32_t block; /* host block */
};
record_fault record_check_copy(const struct session *session, const struct rec_copy *copy,
                               struct transfer *transfer);
record_fault record_check_memset(const struct session *session, const struct rec_memset *set,
                                 struct transfer *transfer);
CUresult transfer_issue(const struct transfer *transfer, CUstream stream);

/* How a stream was left. */
enum drained {
    DRAINED_ALL,
    DRAINED_SOME,   /* as much as there was room for: there may be more */
    DRAINED_STALLED /* it waits for an event that another stream has not reached, or a partition */
};

/* Drains stream `index`: as many records as there is room for. Returns how many it took. A record
 * that does not pass its checks ends the session (seg_fault). */
uint32_t stream_drain(struct session *session, uint32_t index, struct sched_room room,
                      enum drained *drained);

/* The deadline of the stream's next launch, as far as it can be told without checks: for choosing
 * who goes first. 0: none. */
uint64_t stream_deadline(const struct session *session, uint32_t index);

/* Ends the session for a record that it should not have sent, or that the driver refused. */
void session_fault(struct session *session, uint32_t stream, uint32_t kind, gs_status status,
                   const char *kernel, const char *message);

#endif
