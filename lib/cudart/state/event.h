/* event.h - events: libgshare's handles, with the flags with which they were created. */
#ifndef GS_CUDART_EVENT_H
#define GS_CUDART_EVENT_H

#include "cudart/abi.h"
#include "gshare.h"

cudaError_t event_new(unsigned flags, cudaEvent_t *handle);
cudaError_t event_end(cudaEvent_t handle);
/* Finds libgshare's event. cudaErrorInvalidResourceHandle: the handle names none. */
cudaError_t event_find(cudaEvent_t handle, gs_event *event);
/* As event_find, and makes the call work on the event's device. Attaches. */
cudaError_t event_enter(cudaEvent_t handle, gs_event *event);
/* The flags of a handle that event_find has found, and the number of its device. */
unsigned event_flags(cudaEvent_t handle);
unsigned event_device(cudaEvent_t handle);

/* Makes the stream's later work wait for the event. A stream cannot wait for another device's work:
 * for such an event, the caller waits. */
struct stream;
cudaError_t event_let_wait(cudaEvent_t handle, struct stream *stream);

/* Makes an event. It is shared with other processes if cudaEventInterprocess is among the flags.
 * shared: the shared event that another process has made, which the new event then holds. */
struct shared_event;
cudaError_t event_new_shared(unsigned flags, struct shared_event *shared, cudaEvent_t *handle);
/* The event's shared part; NULL: the event is not shared, or the handle names none. */
struct shared_event *event_shared(cudaEvent_t handle);

/* The nodes that stand for an event that was recorded in a capturing stream; see graph/capture.h.
 * Callers of the next three functions hold its lock. */
struct event_nodes {
    uint64_t capture;
    size_t count;
    cudaGraphNode_t nodes[];
};
cudaError_t event_capture(cudaEvent_t handle, uint64_t capture, const cudaGraphNode_t *nodes,
                          size_t count);
/* The event's nodes; NULL: it was not recorded in a capturing stream, or the handle is invalid. */
const struct event_nodes *event_captured(cudaEvent_t handle);
/* Forgets the nodes, because the event has since been recorded in an ordinary stream. */
void event_uncapture(cudaEvent_t handle);

/* Forgets all events of the call's device, because its session is gone. */
void events_forget(void);

#endif
