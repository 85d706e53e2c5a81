// Between the three files of the engine: engine.c (threads and turns), order.c (what may start),
// wait.c (threads of the application). Nobody else includes it.
#ifndef GS_SOFTCUDA_ENGINE_PARTS_H
#define GS_SOFTCUDA_ENGINE_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "softcuda/op.h"
#include "softcuda/stream.h"

// ---- engine.c

// Private futexes: nothing here is shared between processes. TIMEOUT_NS 0: none.
void sleep_on(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);
void wake_on(_Atomic uint32_t *word, uint32_t count);
// Is there a task in the queue? A hint, without the lock.
bool engine_has_tasks(void);
// Runs one short turn of whatever is next on the calling thread. Without the lock.
void engine_lend_hand(void);
// With the lock: wakes as many sleeping threads as there are tasks for.
void engine_threads_wake(void);
void callback_push(struct op *op);

// ---- order.c, with the lock

bool order_init(void);
CUstream order_streams(void);
// Is there a stream that waits for a word in memory? *CHANGED counts what happened to such.
bool polled_present(uint64_t *changed);
void polled_look(void);
CUcontext op_root(const struct op *op);

// ---- wait.c

// STREAM's completed number was raised, or a context failed.
void callers_wake(void);

#endif
