/* completion.h - how the device says that a stream's work is complete; see completion.c.
 * Dispatcher. */
#ifndef GS_WORKER_SUBMIT_COMPLETION_H
#define GS_WORKER_SUBMIT_COMPLETION_H

#include "ptx/rewrite/completion_params.h"
#include "worker/session_parts.h"

/* Once, with the context current, before the first launch. */
CUresult completion_init(void);

/* Has the device write the stream's completion word after all that it was given. */
CUresult completion_write(struct session *session, struct stream *stream, uint64_t position);
/* The same by a kernel, which also writes the stream's fence. */
CUresult completion_fence(struct session *session, struct stream *stream, uint64_t position);
/* Parameters of a graph node that writes the word, and no fence; `operation` must outlive the call
 * that takes them.
 */
CUDA_BATCH_MEM_OP_NODE_PARAMS completion_node(CUdeviceptr address, uint64_t position,
                                              CUstreamBatchMemOpParams *operation);

#define DONE_PARAMS 4 /* of the completing kernel: the first ones of struct completion_params */

/* What is told at the end of all that the stream has been given up to this position: by the
 * completing kernel, or by the last kernel itself, which needs the number of its threads too. */
struct completion_params completion_at(const struct session *session, const struct stream *stream,
                                       uint64_t position);
/* The completing kernel's own, behind kernels of this one. */
int done_priority(int priority);
/* The kernel as a graph's node; `tell` and `pointers` must outlive the call that takes it. */
CUDA_KERNEL_NODE_PARAMS done_params(const struct completion_params *tell,
                                    void *pointers[DONE_PARAMS]);

#endif
