/*
 * operation.h - a stream's operations other than launches; see operation.c. The session's lane.
 */
#ifndef GS_WORKER_SUBMIT_OPERATION_H
#define GS_WORKER_SUBMIT_OPERATION_H

#include "worker/submit/outcome.h"

/* Takes a record of `size` bytes, the worker's own copy, that is no launch. Has the batch issued
 * first. */
enum outcome operation_take(struct session *session, uint32_t index, const unsigned char *record,
                            uint32_t size);

#endif
