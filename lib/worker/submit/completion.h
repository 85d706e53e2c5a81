/*
 * completion.h - has the device signal that a stream's work is complete; see completion.c. The
 * session's lane.
 */
#ifndef GS_WORKER_SUBMIT_COMPLETION_H
#define GS_WORKER_SUBMIT_COMPLETION_H

#include "ptx/rewrite/completion_params.h"
#include "worker/session_parts.h"

/* How the device signals that work has ended. */
enum completion {
    COMPLETION_NONE = 0,
    /* the device's front end writes the completion word: the shortest round trip */
    COMPLETION_WRITTEN,
    /* a kernel writes the word and the stream's fence (inflight.c): the least lane time */
    COMPLETION_FENCE
};

/* Called once, with the context current, before the first launch. */
CUresult completion_init(void);

/* Has the device write `position` to the stream's completion word after all the work that the
 * stream was given. */
CUresult completion_write(struct session *session, struct stream *stream, uint64_t position);
/* The same by the completing kernel, which also writes the stream's fence. */
CUresult completion_fence(struct session *session, struct stream *stream, uint64_t position);
/* The parameters of a graph node that writes the completion word and no fence. `operation` must
 * outlive the call that takes the parameters. */
CUDA_BATCH_MEM_OP_NODE_PARAMS completion_node(const struct completion_params *signal,
                                              CUstreamBatchMemOpParams *operation);

/* The completing kernel's parameters: the first fields of struct completion_params. */
#define COMPLETING_PARAMS 4

/* What the device stores at the end of the stream's work up to `position`. The completing kernel
 * stores it, or the last kernel itself (own store); the caller then sets `threads` too. */
struct completion_params completion_at(const struct session *session, const struct stream *stream,
                                       uint64_t position);
/* The priority of the completing kernel behind kernels of priority `priority`. */
int completing_priority(int priority);
/* The completing kernel as a graph node. `signal` and `pointers` must outlive the call that takes
 * the parameters. */
CUDA_KERNEL_NODE_PARAMS completing_params(const struct completion_params *signal,
                                          void *pointers[COMPLETING_PARAMS]);

#endif
