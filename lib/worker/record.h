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

/* Drains stream `index` up to `budget` records. Returns how many it took; more may be left when
 * that is `budget`. Sets *stalled when the stream waits for an event that another stream has not
 * reached. A record that does not pass its checks ends the session (seg_fault). */
uint32_t stream_drain(struct session *session, uint32_t index, uint32_t budget, bool *stalled);

/* Ends the session for a record that it should not have sent, or that the driver refused. */
void session_fault(struct session *session, uint32_t stream, uint32_t kind, gs_status status,
                   const char *kernel, const char *message);

#endif
