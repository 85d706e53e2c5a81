/* event.h - events: handles of libgshare's, with the flags that they were made with. */
#ifndef GS_CUDART_EVENT_H
#define GS_CUDART_EVENT_H

#include "cudart/abi.h"
#include "gshare.h"

cudaError_t event_new(unsigned flags, cudaEvent_t *handle);
cudaError_t event_end(cudaEvent_t handle);
/* cudaErrorInvalidResourceHandle: none. */
cudaError_t event_find(cudaEvent_t handle, gs_event *event);
/* The flags of a handle that event_find has found. */
unsigned event_flags(cudaEvent_t handle);

/* With cudaEventInterprocess among the flags the event is shared; shared: one that another process
 * has made, which the event holds then. */
struct shared_event;
cudaError_t event_new_shared(unsigned flags, struct shared_event *shared, cudaEvent_t *handle);
/* NULL: it is not, or the handle is none. */
struct shared_event *event_shared(cudaEvent_t handle);

/* What an event captured that was recorded in a stream that captures: see graph/capture.h, whose
 * lock is held. */
struct event_nodes {
    uint64_t capture;
    size_t count;
    cudaGraphNode_t nodes[];
};
cudaError_t event_capture(cudaEvent_t handle, uint64_t capture, const cudaGraphNode_t *nodes,
                          size_t count);
/* NULL: recorded in no such stream; also of a handle that is none. */
const struct event_nodes *event_captured(cudaEvent_t handle);
/* An ordinary record came after. */
void event_uncapture(cudaEvent_t handle);

/* The session is gone, and all events with it. */
void events_forget(void);

#endif
