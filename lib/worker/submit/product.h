/*
 * product.h - products of matrices by the vendor's library; see product.c. The session's lane,
 * which is the main one.
 */
#ifndef GS_WORKER_SUBMIT_PRODUCT_H
#define GS_WORKER_SUBMIT_PRODUCT_H

#include "worker/submit/record.h"

enum product_outcome {
    PRODUCT_ISSUED,
    PRODUCT_WAITS,   /* its algorithm or workspace is being made: ask again later */
    PRODUCT_INVALID, /* *fault: what is wrong with the record */
    PRODUCT_FAILED   /* *status, and text */
};

/* Gives a product to the device; the record is the worker's own copy. */
enum product_outcome product_issue(struct session *session, uint32_t index,
                                   const struct rec_gemm *record, record_refusal *fault,
                                   gs_status *status, char *text, size_t size);

#endif
