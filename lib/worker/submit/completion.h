/*
 * completion.h - has the device signal that a stream's work is complete; see completion.c. Called
 * by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_COMPLETION_H
#define GS_WORKER_SUBMIT_COMPLETION_H

#include "ptx/rewrite/completion_params.h"
#include "worker/session_parts.h"

/* How the device signals that work has ended. */
enum completion {
    COMPLETION_NONE = 0,
    /* the device's front end writes the completion word: gives the shortest round trip */
    COMPLETION_WRITTEN,
    /* a kernel writes the word and the stream's fence (inflight.c): takes the least time of the
     * lane */
    COMPLETION_FENCE
};

/* Loads the completing kernel. Called once, with the context current, before the first launch. */
CUresult completion_init(void);

/* Has the device's front end write `position` to the stream's completion word after all work issued
 * to the stream. */
CUresult completion_write(struct session *session, struct stream *stream, uint64_t position);
/* Has the completing kernel do the same, which also writes the stream's fence. */
CUresult completion_fence(struct session *session, struct stream *stream, uint64_t position);
/* Returns the parameters of a graph node that writes the completion word, without a fence.
 * `operation` must outlive the call that takes the parameters. */
CUDA_BATCH_MEM_OP_NODE_PARAMS completion_node(const struct completion_params *signal,
                                              CUstreamBatchMemOpParams *operation);

/* The completing kernel's parameters: the first fields of struct completion_params. */
#define COMPLETING_PARAMS 4

/* Returns what the device stores at the end of the stream's work up to `position`. Either the
 * completing kernel stores it, or the last kernel itself (own store); for an own store the caller
 * sets `threads` too. */
struct completion_params completion_at(const struct session *session, const struct stream *stream,
                                       uint64_t position);
/* Returns the priority of a completing kernel that follows kernels of priority `priority`. */
int completing_priority(int priority);
/* Returns the completing kernel's parameters as a graph node. `signal` and `pointers` must outlive
 * the call that takes them. */
CUDA_KERNEL_NODE_PARAMS completing_params(const struct completion_params *signal,
                                          void *pointers[COMPLETING_PARAMS]);

#endif
