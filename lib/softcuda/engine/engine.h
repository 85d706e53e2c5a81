// The engine: the threads that do the device's work, and the application's threads that wait for
// it.
//
// Owns the worker threads, the callback thread and the running of turns (turn.h). Its own threads
// run it, and any thread that waits. It takes tasks from sched, runs them without the scheduling
// lock, and tells stream/order.h what came of them.
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
CUresult engine_start(void); // the workers; idempotent

// Starts the callback thread, before the first OP_HOST; idempotent.
CUresult engine_callbacks_start(void);

// Waits until STREAM has completed POSITION. Returns the context's sticky error as soon as it has
// one.
CUresult engine_wait(CUstream stream, uint64_t position);
CUresult engine_wait_event(CUevent event);    // until its last recording
CUresult engine_wait_stream(CUstream stream); // until all that is submitted now
// Waits for all streams of CONTEXT, of its green contexts too when it is a root. STICKY: stops at
// an error.
CUresult engine_wait_context(CUcontext context, bool sticky);

// Moves bytes on the calling thread when nothing is in the way, that is, no work in any stream that
// the default stream waits for. Takes OP and sets *RESULT; false: it did not, the caller submits
// OP.
bool engine_move_now(CUcontext context, struct op *op, CUresult *result);

#endif
