/*
 * shared_event.h - events that several processes record and wait for (cudaEventInterprocess): a
 * page of shared memory that counts records, and which of them are complete. A host function behind
 * the work tells the latter.
 */
#ifndef GS_CUDART_SHARED_EVENT_H
#define GS_CUDART_SHARED_EVENT_H

#include "cudart/abi.h"
#include "cudart/state/stream.h"

struct shared_event;

/* The name by which other processes of the user open the event, while its maker has it. */
struct shared_event_name {
    uint64_t secret;
    int32_t process, descriptor;
};

/* Makes an event, which the caller holds. NULL: no memory. */
struct shared_event *shared_event_new(void);
/* Opens the event of that name, which the caller then holds. NULL: there is none. */
struct shared_event *shared_event_open(const struct shared_event_name *name);
void shared_event_release(struct shared_event *event);
struct shared_event_name shared_event_name(const struct shared_event *event);

cudaError_t shared_event_record(struct shared_event *event, struct stream *stream);
/* Whether the last record is this process's. */
bool shared_event_is_own(const struct shared_event *event);
/* Whether what was recorded last is complete. */
bool shared_event_done(const struct shared_event *event);
/* Waits until that is complete. cudaErrorMpsClientTerminated: the process that recorded the event
 * has ended before. */
cudaError_t shared_event_wait(const struct shared_event *event);

#endif
