/*
 * record.h - checks the records that a tenant has written; see record.c. Called by the session's
 * lane, or by a job of the session.
 */
#ifndef GS_WORKER_SUBMIT_RECORD_H
#define GS_WORKER_SUBMIT_RECORD_H

#include "worker/blas/problem.h"
#include "worker/submit/launch.h"

/* The reason why a record is refused, as text; NULL: it is not refused. */
typedef const char *record_refusal;

/* Checks a launch of `size` bytes at `record`, the worker's own copy, and fills *launch, whose
 * params point into the copy. */
record_refusal record_check_launch(const struct session *session, unsigned char *record,
                                   uint32_t size, struct launch *launch);

/* A checked copy or memset, ready for the driver. */
struct transfer {
    enum { TRANSFER_HTOD, TRANSFER_DTOH, TRANSFER_DTOD, TRANSFER_SET } kind;
    CUdeviceptr dst, src;
    unsigned char *host;
    uint64_t bytes;
    uint32_t value, element; /* of a memset */
    uint32_t block;          /* the host block; SEG_HOSTS: none */
};
record_refusal record_check_copy(const struct session *session, const struct rec_copy *copy,
                                 struct transfer *transfer);
record_refusal record_check_memset(const struct session *session, const struct rec_memset *set,
                                   struct transfer *transfer);
/* Checks a box (a copy of up to three dimensions), and fills the driver's description of the
 * copy. */
record_refusal record_check_box(const struct session *session, const struct rec_box *box,
                                CUDA_MEMCPY3D *copy);
/* Checks a product and fills its problem. */
record_refusal record_check_gemm(const struct session *session, const struct rec_gemm *gemm,
                                 struct problem *problem);
CUresult transfer_issue(const struct transfer *transfer, CUstream stream);

#endif
