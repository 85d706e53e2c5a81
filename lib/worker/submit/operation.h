/*
 * operation.h - a stream's operations other than launches; see operation.c. The session's lane.
 */
#ifndef GS_WORKER_SUBMIT_OPERATION_H
#define GS_WORKER_SUBMIT_OPERATION_H

#include "worker/submit/outcome.h"

/* How long a graph's or a product's record is thought to take, in nanoseconds: of the device's
 * time, or of the lane's where that is more, as of a graph whose nodes are left out. */
uint64_t operation_guess(const struct session *session, uint32_t index,
                         const unsigned char *record);
/* Takes a record of `size` bytes, the worker's own copy, that is no launch. Has the batch issued
 * first. */
enum outcome operation_take(struct session *session, uint32_t index, const unsigned char *record,
                            uint32_t size);

#endif
