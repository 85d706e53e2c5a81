/*
 * batch.h - the batch: launches gathered from one stream and issued together; see batch.c. Called
 * by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_BATCH_H
#define GS_WORKER_SUBMIT_BATCH_H

#include "worker/submit/completion.h"
#include "worker/submit/outcome.h"

/* Returns memory for the next record of the stream, of REC_SIZE_MAX bytes at most. The record stays
 * there while its launch is in the batch. Issues a full batch first. NULL: the driver refused that
 * batch, and the session has ended. */
unsigned char *batch_next(struct session *session, uint32_t index, uint32_t size);
/* Takes a launch, whose record of `size` bytes was copied to batch_next: checks it, chooses its
 * SMs, and adds it to the batch. Issues a launch that goes alone at once, after the batch. *ns: the
 * expected time of a launch that was taken. */
enum outcome batch_take(struct session *session, uint32_t index, unsigned char *record,
                        uint32_t size, uint64_t *ns);
/* Issues the gathered launches. Returns false if the driver refused them; the session has ended
 * then. */
bool batch_issue(struct session *session, uint32_t index, enum completion completion);
/* Issues the gathered launches, and has the device signal the end of all that the stream has
 * consumed, if it has not been told to do so already. Drops the launches of a session that has
 * ended. */
void batch_finish(struct session *session, uint32_t index);

#endif
