// The order of operations. stream_submit takes the scheduling lock; all else is called with it
// held.
#ifndef GS_SOFTCUDA_STREAM_ORDER_H
#define GS_SOFTCUDA_STREAM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/sched/grid.h"
#include "softcuda/stream/op.h"
#include "softcuda/stream/stream.h"

bool order_init(void); // without the lock; false: no memory

// Puts OP, which it takes in any case, at the end of STREAM, behind what the default stream's rules
// make it wait for. *POSITION, unless NULL, is its number there. A stream under capture takes none:
// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
CUresult stream_submit(CUstream stream, struct op *op, uint64_t *position);

// Sets ROOT's sticky error and stops its grids; the first error stays.
void order_fail(CUcontext root, CUresult error);
// All blocks of OP's grid have let grids begin that depend on it, or are done.
void order_let_go(struct op *op);
// OP is complete: frees it and makes ready what waited for it.
void order_finish(struct op *op);
// A block's turn found it done, or its grid stopped. Completes the grid's operation with its last.
void order_block_done(struct resident *resident);
// Starts whatever can start, and wakes threads for it. Whoever calls one of the above, or
// order_poll, calls this before giving the lock back.
void order_pump(void);

// Whether streams wait for words in memory; *CHANGED counts the changes among those that do.
bool order_polls(uint64_t *changed);
// Looks at those words.
void order_poll(void);

// The root of the context that OP works for.
CUcontext order_root(const struct op *op);

#endif
