/*
 * batch.h - the batch: launches gathered from one stream, which go to the device together; see
 * batch.c. The session's lane.
 */
#ifndef GS_WORKER_SUBMIT_BATCH_H
#define GS_WORKER_SUBMIT_BATCH_H

#include "worker/submit/completion.h"
#include "worker/submit/outcome.h"

/* The memory for the next record of the stream, of REC_SIZE_MAX bytes at most; the record stays
 * there while its launch is in the batch. A full batch is issued first. NULL: the driver refused
 * it, and the session has ended. */
unsigned char *batch_next(struct session *session, uint32_t index, uint32_t size);
/* Takes a launch, whose record of `size` bytes was copied to batch_next: checks it, chooses its
 * SMs, and adds it to the batch. A launch that goes alone is issued at once, behind the batch.
 * *ns: how long a launch that was taken is thought to run. */
enum outcome batch_take(struct session *session, uint32_t index, unsigned char *record,
                        uint32_t size, uint64_t *ns);
/* Gives the gathered launches to the device. Returns false when the driver refused them. */
bool batch_issue(struct session *session, uint32_t index, enum completion completion);
/* The same, and has the device signal the end of all that the stream has consumed, unless the
 * device has been told to do so already. Drops the launches of a session that has ended. */
void batch_finish(struct session *session, uint32_t index);

#endif
