/* record.h - what a tenant's records may say; see record.c. Dispatcher, or a job of the session. */
#ifndef GS_WORKER_SUBMIT_RECORD_H
#define GS_WORKER_SUBMIT_RECORD_H

#include "worker/submit/launch.h"

/* What a record is wrong for, for people. NULL: it is right. */
typedef const char *record_fault;

/* Checks a launch whose `size` bytes at `record` are the worker's own copy; fills *launch, whose
 * params point into it. */
record_fault record_check_launch(const struct session *session, unsigned char *record,
                                 uint32_t size, struct launch *launch);

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

#endif
