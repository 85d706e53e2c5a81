// Launched grids and where their blocks run. place.c owns the virtual SMs. All of it runs under the
// scheduling lock, except grid_free.
#ifndef GS_SOFTCUDA_SCHED_GRID_H
#define GS_SOFTCUDA_SCHED_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "softcuda/context/context.h"
#include "softcuda/interp/exec.h"
#include "softcuda/sched/queue.h"

struct op;

// The resources of an SM that a block holds while it is resident.
struct block_cost {
    uint32_t threads; // whole warps
    uint32_t registers;
    uint32_t shared;
};

// Block holders that a grid keeps for reuse; it rarely has more that are idle.
enum { GRID_SPARES = 8 };

struct grid {
    struct exec_grid exec;
    struct op *op;     // what the grid completes; scheduling only hands it back
    CUcontext context; // the grid runs on its SMs, and a fault is its root's
    CUmodule module;   // referenced
    struct block_cost cost;
    uint8_t level; // the priority level of the grid's tasks
    bool cooperative;
    uint32_t slot; // the grid's number among the admitted ones, which selects its workspace
    uint64_t started_ns;
    uint32_t cluster_size;      // how many blocks are placed together; 1 without clusters
    uint64_t total, next_block; // the number of clusters, and the next one to place
    uint32_t resident;          // how many clusters are on SMs
    _Atomic uint64_t let_go;    // how many blocks have executed launch_dependents, see exec.h
    bool has_let_go;            // all blocks have, and order.c has been told
    uint32_t spare_count;
    struct exec_block *spares[GRID_SPARES]; // holders of blocks that are done, the warmest last
    struct grid *next;                      // the next grid of the only list that holds this one
    _Alignas(16) uint8_t params[];
};

// A cluster of a grid that has been placed on SMs, one SM for each of its blocks. It is in the run
// queue or in a turn. In a grid without clusters each block is a cluster of one.
struct resident {
    struct task task; // first
    struct grid *grid;
    struct exec_block *block; // NULL before the first turn
    uint64_t index;
    uint32_t sms[EXEC_CLUSTER_BLOCKS];
    bool started;
};

// What placing blocks led to, for the caller to settle: complete the operations of the grids, which
// are linked by `next`, and fail the context.
struct placed {
    struct grid *done, *last; // in the order in which they ended
    CUcontext starved; // the root of a grid for whose block there was no host memory, or NULL
};

void grid_free(struct grid *grid); // of a grid in no list; NULL is fine

// The number of blocks of this cost that fit on an empty SM.
uint32_t place_occupancy(const struct block_cost *cost);

void place_init(void);
// Queues a grid; it is admitted when fewer than DEVICE_MAX_GRIDS are.
void place_submit(struct grid *grid);
// Puts blocks on SMs as far as they fit, each as a task in the run queue. Adds to *PLACED.
void place_all(struct placed *placed);
// Frees a resident whose turn found it done, or its grid stopped. A cluster of one block may be
// replaced at once on its SM by a block of any grid without clusters, its own included; other
// clusters wait for place_all. Adds to *PLACED.
void place_block_done(struct resident *resident, struct placed *placed);
// Gives a resident that has none a holder of its grid's spares, if there is one.
void place_take_spare(struct resident *resident);
// Every grid of ROOT ends as soon as its blocks notice.
void place_stop(CUcontext root);

#endif
