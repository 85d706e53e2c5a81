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
/* The session is gone, and all events with it. */
void events_forget(void);

#endif
