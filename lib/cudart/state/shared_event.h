/*
 * shared_event.h - events that several processes record and wait for (cudaEventInterprocess): a
 * page of shared memory counts the records and the completed ones. A host function behind the
 * recorded work marks its record as complete.
 */
#ifndef GS_CUDART_SHARED_EVENT_H
#define GS_CUDART_SHARED_EVENT_H

#include "cudart/abi.h"
#include "cudart/state/stream.h"

struct shared_event;

/* The name by which other processes of the same user open the event while its maker holds it. */
struct shared_event_name {
    uint64_t secret;
    int32_t process, descriptor;
};

/* Makes an event, which the caller holds. NULL: no memory. */
struct shared_event *shared_event_new(void);
/* Opens the event with that name, which the caller then holds. NULL: there is none. */
struct shared_event *shared_event_open(const struct shared_event_name *name);
void shared_event_release(struct shared_event *event);
struct shared_event_name shared_event_name(const struct shared_event *event);

cudaError_t shared_event_record(struct shared_event *event, struct stream *stream);
/* Whether this process made the last record. */
bool shared_event_is_own(const struct shared_event *event);
/* Whether the last record is complete. */
bool shared_event_done(const struct shared_event *event);
/* Waits until the last record is complete. cudaErrorMpsClientTerminated: the process that made it
 * has ended earlier. */
cudaError_t shared_event_wait(const struct shared_event *event);

#endif
