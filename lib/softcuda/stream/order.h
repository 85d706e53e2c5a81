// The order of operations. stream_submit takes the scheduling lock; the other functions are called
// with it held.
#ifndef GS_SOFTCUDA_STREAM_ORDER_H
#define GS_SOFTCUDA_STREAM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/sched/grid.h"
#include "softcuda/stream/op.h"
#include "softcuda/stream/stream.h"

bool order_init(void); // without the lock; false: no memory

// Appends OP to STREAM, behind what the default stream's rules make it wait for; takes ownership of
// OP in any case. *POSITION, unless NULL, is its number in the stream. A capturing stream refuses
// it: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
CUresult stream_submit(CUstream stream, struct op *op, uint64_t *position);

// Sets ROOT's sticky error and stops its grids; only the first error is kept.
void order_fail(CUcontext root, CUresult error);
// All blocks of OP's grid have allowed dependent grids to begin, or are done.
void order_let_go(struct op *op);
// OP is complete: frees it, and makes the operations ready that waited for it.
void order_finish(struct op *op);
// A block's turn found the block done, or its grid stopped. The last block completes the grid's
// operation.
void order_block_done(struct resident *resident);
// Starts everything that can start, and wakes threads for it. Must be called after the functions
// above, and after order_poll, before the lock is released.
void order_pump(void);

// Whether streams wait for words in memory. *CHANGED counts changes of these streams.
bool order_polls(uint64_t *changed);
// Checks those words.
void order_poll(void);

// The root of the context for which OP works.
CUcontext order_root(const struct op *op);

#endif
