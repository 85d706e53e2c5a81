/*
 * capture.h - stream capture: which streams capture into which graph. A stream that captures adds a
 * node instead of doing the work; the node depends on the nodes that the stream captured last. A
 * stream joins a capture by waiting for an event that was recorded in it. Any thread.
 */
#ifndef GS_CUDART_CAPTURE_H
#define GS_CUDART_CAPTURE_H

#include "cudart/abi.h"
#include "cudart/graph/op.h"
#include "cudart/state/stream.h"

/* ---- Beginning and ending -------------------------------------------------------------------- */

/* Begins a capture into the graph, after the nodes `deps`. graph NULL: into a new graph. */
cudaError_t capture_begin(struct stream *stream, enum cudaStreamCaptureMode mode, cudaGraph_t graph,
                          const cudaGraphNode_t *deps, size_t count);
/* Ends the stream's capture and returns the graph. graph may be NULL if the program provided the
 * graph. */
cudaError_t capture_end(struct stream *stream, cudaGraph_t *graph);
/* Removes a stream that is about to be destroyed from its capture. The capture must still join the
 * stream's work. A capture that began in this stream ends with it, and its graph is gone. */
cudaError_t capture_leave(struct stream *stream);

struct capture_info {
    enum cudaStreamCaptureStatus status;
    unsigned long long id;
    cudaGraph_t graph;
    const cudaGraphNode_t *deps; /* owned by the stream; valid until it captures again */
    size_t count;
};
cudaError_t capture_info(struct stream *stream, struct capture_info *info);
cudaError_t capture_set_deps(struct stream *stream, const cudaGraphNode_t *deps, size_t count,
                             bool replace);
/* Sets the calling thread's mode, and returns the former one. */
cudaError_t capture_mode_exchange(enum cudaStreamCaptureMode *mode);

/* ---- Work ------------------------------------------------------------------------------------ */

/* Adds a node with this op, which it takes ownership of. */
cudaError_t capture_op(struct stream *stream, struct op *op);
/* Adds a kernel node. attributes NULL: those of the stream and of config. */
cudaError_t capture_launch(struct stream *stream, struct kernel *kernel,
                           const gs_launch_config *config, size_t shared, void **args,
                           const struct launch_attributes *attributes);
/* Adds a node that records the event or waits for it. cudaErrorIllegalState: the stream does not
 * capture. */
cudaError_t capture_node(struct stream *stream, enum cudaGraphNodeType type, cudaEvent_t event);
cudaError_t capture_record(struct stream *stream, cudaEvent_t event);
/* Forgets the nodes of the event, because it is recorded in an ordinary stream. */
void capture_event_remove(cudaEvent_t event);
/* The stream waits for the event; a stream that does not capture joins the event's capture. If the
 * event has no capture and the stream does not capture, sets *done to false: the wait is an
 * ordinary one. */
cudaError_t capture_wait(struct stream *stream, cudaEvent_t event, bool *done);

/* ---- What a capture forbids ------------------------------------------------------------------ */

/* Called for a call that cannot be captured: invalidates the capture and returns the error for the
 * call. */
cudaError_t capture_refuse(struct stream *stream);
/* The error for a call that waits for, or queries, the event or all streams of its device;
 * cudaSuccess: no capture forbids the call. */
cudaError_t capture_forbids_event(cudaEvent_t event);
cudaError_t capture_forbids_device(void);
/* As above, for a call that is unsafe during captures, such as cudaMalloc; the thread's mode
 * decides. */
cudaError_t capture_forbids_unsafe(void);
/* As above, for work in the legacy stream, which would have to wait for blocking streams that
 * capture. */
cudaError_t capture_forbids_legacy(const struct stream *stream);
/* The session of the call's device is gone: forgets all captures that began there, and invalidates
 * those that its streams have joined. */
void captures_forget(void);

#endif
