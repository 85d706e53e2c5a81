// Streams, events and the operations that go through them. State under the engine's lock (engine.h)
// but for what is atomic; any thread.
#ifndef GS_SOFTCUDA_STREAM_H
#define GS_SOFTCUDA_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/context.h"

struct op;

// Operations of a stream are numbered from 1 as they are submitted, and complete in that order:
// "done up to N" says everything. An event is such a number.
struct CUstream_st {
    uint32_t magic;
    uint32_t flags;
    int priority;
    CUcontext context;
    struct op *head, *tail;
    struct op *waiters; // operations elsewhere that wait for a number of this stream
    _Atomic uint64_t submitted;
    _Atomic uint64_t completed; // release by the engine, acquire by whoever waits
    uint64_t legacy_seen;       // number in the legacy stream that this one waits for already
    uint32_t references;        // the handle, and each op, event and graph launch that names it
    CUstream next;              // in its context
};

struct CUevent_st {
    uint32_t magic;
    uint32_t flags;
    uint32_t references; // the handle and each recording under way
    CUstream stream;     // last recorded in; NULL: never recorded
    uint64_t position;
    uint64_t recorded_at; // ns; of the last recording that completed
};

CUresult stream_new(CUcontext context, uint32_t flags, int priority, CUstream *out);
void stream_destroy(CUstream stream);

// The stream behind a handle as the API takes it: NULL and the two constants name streams of
// CONTEXT.
CUresult stream_of(CUcontext context, CUstream handle, CUstream *stream);

// With the engine's lock.
void stream_reference(CUstream stream);
void stream_release(CUstream stream);
bool stream_is_idle(CUstream stream);

CUresult event_new(uint32_t flags, CUevent *out);
void event_destroy(CUevent event);
CUresult event_check(CUevent event);
CUresult event_record(CUevent event, CUstream stream);
CUresult event_query(CUevent event);
CUresult event_wait(CUevent event);                         // the calling thread
CUresult event_wait_stream(CUevent event, CUstream stream); // later work of STREAM
CUresult event_elapsed(float *ms, CUevent start, CUevent end);
// With the engine's lock.
void event_release(CUevent event);

static inline uint32_t priority_level(int priority)
{
    return (uint32_t)(DEVICE_LEAST_PRIORITY - priority);
}

static inline int priority_clamp(int priority)
{
    return priority > DEVICE_LEAST_PRIORITY      ? DEVICE_LEAST_PRIORITY
           : priority < DEVICE_GREATEST_PRIORITY ? DEVICE_GREATEST_PRIORITY
                                                 : priority;
}

#endif
