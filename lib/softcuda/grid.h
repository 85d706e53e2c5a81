// Launched grids and where their blocks run. place.c owns the virtual SMs; all of it under the
// engine's lock but grid_new and grid_free.
#ifndef GS_SOFTCUDA_GRID_H
#define GS_SOFTCUDA_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "softcuda/context.h"
#include "softcuda/exec.h"
#include "softcuda/op.h"

// What a block takes of an SM while it is resident.
struct block_cost {
    uint32_t threads; // whole warps
    uint32_t registers;
    uint32_t shared;
};

struct grid {
    struct exec_grid exec;
    struct op *op;
    CUcontext context; // its SMs are the grid's; its root gets the blame
    CUmodule module;   // referenced
    struct block_cost cost;
    uint8_t level; // of priority
    bool cooperative;
    bool waiting_room; // admitted: one of DEVICE_MAX_GRIDS
    uint32_t slot;     // among the admitted, for the workspace
    uint64_t started_ns;
    uint64_t total, next_block;
    uint32_t resident; // blocks on SMs
    struct grid *next; // in the one list that it is in
    _Alignas(16) uint8_t params[];
};

// A block on an SM, in the engine's run queue or in a turn.
struct resident {
    struct task task; // first
    struct grid *grid;
    struct exec_block *block; // NULL before the first turn
    uint64_t index;
    uint32_t sm;
    bool started;
};

void grid_free(struct grid *grid); // one that is nowhere; NULL is fine

// How many blocks of this cost fit on an empty SM?
uint32_t place_occupancy(const struct block_cost *cost);

void place_init(void);
// Queues a grid; it is admitted when fewer than DEVICE_MAX_GRIDS are.
void place_submit(struct grid *grid);
// Puts blocks on SMs as far as they fit, each as a task of the engine.
void place_all(void);
// A resident's turn found it done, or its grid stopped. May complete the grid's operation.
void place_block_done(struct resident *resident);
// Every grid of ROOT ends as soon as its blocks notice.
void place_stop(CUcontext root);

#endif
