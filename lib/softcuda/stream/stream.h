// Streams: what they hold, when an operation of theirs may start, and what its completion sets off;
// events, which are places in streams.
//
// Owns streams, events, operations (op.h), runs of graphs (run.h) and the order among them
// (order.h). Any thread runs it. State is under the scheduling lock, except what is atomic. Nothing
// here runs a kernel or moves more than a word: it hands grids and tasks to sched, and the engine
// above runs those and reports back through order.h.
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
    _Atomic uint64_t completed; // release by order.c, acquire in stream_reached
    uint64_t legacy_seen;       // number in the legacy stream that this one waits for already
    uint32_t references;        // the handle, and each op, event and graph launch that names it
    CUstream next;              // in the list of all streams
    // While its work is captured (launch/capture.c), by the thread that captures.
    struct {
        CUgraph graph; // NULL: it is not
        CUgraphNode last;
    } capture;
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
void stream_free(CUstream stream);

// The stream behind a handle as the API takes it: NULL and the two constants name streams of
// CONTEXT.
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
// Tells where the event was last recorded, with a reference to its stream; false: it never was.
bool event_point(CUevent event, CUstream *stream, uint64_t *position);
// Gives back such a reference.
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
