// The engine: the threads that do the device's work, and the application's threads that wait for
// it.
//
// Owns the worker threads, the callback thread and the running of turns (turn.h). Its own threads
// run it, and any thread that waits. It takes tasks from sched, runs them without the scheduling
// lock, and reports the results to stream/order.h.
//
// May include: stream, sched, module, context, interp, memory, device.
#ifndef GS_SOFTCUDA_ENGINE_ENGINE_H
#define GS_SOFTCUDA_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/stream/op.h"
#include "softcuda/stream/stream.h"

// All take the scheduling lock themselves.

CUresult engine_init(void);
CUresult engine_start(void); // starts the workers; idempotent

// Starts the callback thread, before the first OP_HOST; idempotent.
CUresult engine_callbacks_start(void);

// Waits until STREAM has completed POSITION. Returns the context's sticky error as soon as it has
// one.
CUresult engine_wait(CUstream stream, uint64_t position);
CUresult engine_wait_event(CUevent event);    // waits for the event's last recording
CUresult engine_wait_stream(CUstream stream); // waits for all operations submitted so far
// Waits for all streams of CONTEXT and, if it is a root, of its green contexts. STICKY: stops at an
// error.
CUresult engine_wait_context(CUcontext context, bool sticky);

// Moves bytes on the calling thread if no stream for which the default stream waits has work. Takes
// OP and sets *RESULT. False: it did not; the caller submits OP.
bool engine_move_now(CUcontext context, struct op *op, CUresult *result);

#endif
