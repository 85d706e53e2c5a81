/*
 * product.h - matrix products computed by the vendor's library; see product.c. Called by the
 * session's lane, which is the main one.
 */
#ifndef GS_WORKER_SUBMIT_PRODUCT_H
#define GS_WORKER_SUBMIT_PRODUCT_H

#include "worker/submit/outcome.h"

/* Issues a product. record: the worker's own copy of the record at the head of stream `index`. The
 * record stalls while its algorithm or workspace is being made. */
enum outcome product_issue(struct session *session, uint32_t index, const struct rec_gemm *record);

#endif
