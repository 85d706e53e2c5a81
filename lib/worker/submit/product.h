/*
 * product.h - products of matrices by the vendor's library; see product.c. The session's lane,
 * which is the main one.
 */
#ifndef GS_WORKER_SUBMIT_PRODUCT_H
#define GS_WORKER_SUBMIT_PRODUCT_H

#include "worker/submit/outcome.h"

/* Gives a product to the device; the record is the worker's own copy of that at the head of stream
 * `index`. The record stalls while its algorithm or workspace is being made. */
enum outcome product_issue(struct session *session, uint32_t index, const struct rec_gemm *record);

#endif
