// Streams: what they contain, when one of their operations may start, and what follows from its
// completion. Events: positions in streams.
//
// Owns streams, events, operations (op.h), runs of graphs (run.h) and the order among them
// (order.h). Any thread may call this. State is guarded by the scheduling lock, except atomics.
// Nothing here runs a kernel or moves more than a word: it passes grids and tasks to sched; the
// engine, above, runs those and reports back through order.h.
//
// May include: sched, module, context, interp, memory, device.
#ifndef GS_SOFTCUDA_STREAM_STREAM_H
#define GS_SOFTCUDA_STREAM_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/context/context.h"

struct op;

// Operations of a stream are numbered from 1 in the order of submission, and complete in that
// order: "done up to N" describes the state completely. An event is such a number.
struct CUstream_st {
    uint32_t magic;
    uint32_t flags;
    int priority;
    CUcontext context;
    struct op *head, *tail;
    struct op *waiters; // operations elsewhere that wait for a number of this stream
    _Atomic uint64_t submitted;
    _Atomic uint64_t completed; // release by order.c, acquire in stream_reached
    uint64_t legacy_seen;       // number in the legacy stream for which this one already waits
    uint32_t references; // held by the handle, and by each op, event and graph launch that uses it
    CUstream next;       // in the list of all streams
    // Used while its work is captured (launch/capture.c), by the capturing thread.
    struct {
        CUgraph graph; // NULL: no capture
        CUgraphNode last;
    } capture;
};

struct CUevent_st {
    uint32_t magic;
    uint32_t flags;
    uint32_t references; // held by the handle and each recording in progress
    CUstream stream;     // the stream of the last recording; NULL: never recorded
    uint64_t position;
    uint64_t recordings;  // number of recordings submitted
    uint64_t recorded_at; // time of the last completed recording, ns
};

CUresult stream_new(CUcontext context, uint32_t flags, int priority, CUstream *out);
void stream_free(CUstream stream);

// The stream for a handle of the API: NULL and the two constants mean streams of CONTEXT.
CUresult stream_of(CUcontext context, CUstream handle, CUstream *stream);

// Whether all operations up to POSITION are complete; without the lock.
static inline bool stream_reached(CUstream stream, uint64_t position)
{
    return atomic_load_explicit(&stream->completed, memory_order_acquire) >= position;
}

// These are called with the scheduling lock.
CUstream stream_first(void); // of all streams, by `next`
void stream_reference(CUstream stream);
void stream_release(CUstream stream);
bool stream_is_idle(CUstream stream);

CUresult event_new(uint32_t flags, CUevent *out);
void event_free(CUevent event);
CUresult event_check(CUevent event);
// Finds where the event was last recorded, and takes a reference to that stream. False: it was
// never recorded.
bool event_point(CUevent event, CUstream *stream, uint64_t *position);
// Releases such a reference.
void event_point_release(CUstream stream);
// Is called with the scheduling lock.
void event_release(CUevent event);

// ---- event.c
CUresult event_record(CUevent event, CUstream stream);
CUresult event_query(CUevent event);
CUresult event_wait_stream(CUevent event, CUstream stream); // later work of STREAM waits
CUresult event_elapsed(float *ms, CUevent start, CUevent end);
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
