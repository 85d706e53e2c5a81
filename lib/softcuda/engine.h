// The engine: the threads that do the device's work, and the order in which operations happen.
//
// One lock guards streams, operations, grids and SMs. Engine threads hold it between turns, never
// during one. Functions below take it themselves unless said otherwise.
#ifndef GS_SOFTCUDA_ENGINE_H
#define GS_SOFTCUDA_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/op.h"
#include "softcuda/stream.h"

CUresult engine_init(void);
CUresult engine_start(void); // the threads; idempotent

void engine_lock(void);
void engine_unlock(void);

// Puts OP, which it takes in any case, at the end of STREAM, behind what the default stream's rules
// say it must wait for. *POSITION, unless NULL, is its number there.
CUresult engine_submit(CUstream stream, struct op *op, uint64_t *position);

// The callback thread, before the first OP_HOST.
CUresult engine_callbacks_start(void);

// Waits until STREAM has completed POSITION. Returns the context's sticky error as soon as it has
// one.
CUresult engine_wait(CUstream stream, uint64_t position);
bool engine_reached(CUstream stream, uint64_t position);
CUresult engine_wait_stream(CUstream stream); // all submitted so far
// All streams of CONTEXT, of its green contexts too when it is a root. STICKY: stop at an error.
CUresult engine_wait_context(CUcontext context, bool sticky);

// Moves bytes on the calling thread when nothing is in the way: no work in any stream that the
// default stream waits for. False: it did not; submit it.
bool engine_move_now(CUcontext context, struct op *op, CUresult *result);

// ---- With the lock held

// Sets ROOT's sticky error and stops its grids; the first error stays.
void engine_fail(CUcontext root, CUresult error);
void engine_task_push(struct task *task);
// OP is complete: frees it and starts what waited for it.
void engine_op_finish(struct op *op);
// OP may start: see graph.c.
void engine_op_ready(struct op *op);
void engine_stream_link(CUstream stream);
void engine_stream_unlink(CUstream stream);
// Starts whatever can start. Call before giving the lock back after any of the above.
void engine_pump(void);

#endif
