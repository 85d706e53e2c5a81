/*
 * record.h - what a tenant's records may say; see record.c. The session's lane, or a job of the
 * session.
 */
#ifndef GS_WORKER_SUBMIT_RECORD_H
#define GS_WORKER_SUBMIT_RECORD_H

#include "worker/blas/problem.h"
#include "worker/submit/launch.h"

/* Why a record is refused, for people. NULL: it is not. */
typedef const char *record_refusal;

/* Checks a launch of `size` bytes at `record`, which are the worker's own copy; fills *launch,
 * whose params point into the copy. */
record_refusal record_check_launch(const struct session *session, unsigned char *record,
                                   uint32_t size, struct launch *launch);

/* A checked copy or memset, ready for the driver. */
struct transfer {
    enum { TRANSFER_HTOD, TRANSFER_DTOH, TRANSFER_DTOD, TRANSFER_SET } kind;
    CUdeviceptr dst, src;
    unsigned char *host;
    uint64_t bytes;
    uint32_t value, element; /* of a memset */
    uint32_t block;          /* host block; SEG_HOSTS: none */
};
record_refusal record_check_copy(const struct session *session, const struct rec_copy *copy,
                                 struct transfer *transfer);
record_refusal record_check_memset(const struct session *session, const struct rec_memset *set,
                                   struct transfer *transfer);
/* Checks a box and fills what the driver is to copy. */
record_refusal record_check_box(const struct session *session, const struct rec_box *box,
                                CUDA_MEMCPY3D *copy);
/* Checks a product and tells its problem. */
record_refusal record_check_gemm(const struct session *session, const struct rec_gemm *gemm,
                                 struct problem *problem);
CUresult transfer_issue(const struct transfer *transfer, CUstream stream);

#endif
