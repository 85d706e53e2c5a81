/*
 * operation.h - a stream's operations other than launches; see operation.c. Called by the session's
 * lane.
 */
#ifndef GS_WORKER_SUBMIT_OPERATION_H
#define GS_WORKER_SUBMIT_OPERATION_H

#include "worker/submit/outcome.h"

/* Returns how many nanoseconds a graph's or a product's record is expected to take: of the device's
 * time or, if that is more, of the lane's, as for a graph whose nodes are left out. */
uint64_t operation_guess(const struct session *session, uint32_t index,
                         const unsigned char *record);
/* Takes a record other than a launch, the worker's own copy of `size` bytes. Issues the batch
 * first. */
enum outcome operation_take(struct session *session, uint32_t index, const unsigned char *record,
                            uint32_t size);

#endif
