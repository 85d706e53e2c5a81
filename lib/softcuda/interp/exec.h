// The interpreter: runs blocks of threads, warp by warp. This header is its interface to the
// device; interp.h is internal.
//
// Owns the state of blocks. The engine's threads run it in turns, without any lock. The device
// decides which block runs, when, for how long and on which virtual SM; the interpreter decides
// what its instructions mean. A program (lower/program.h) is immutable once it is bound, so any
// number of threads may run its blocks; each block is run by one thread at a time.
//
// A guest is not trusted: whatever a kernel does ends as an exec_status, within the budget that the
// caller gives.
//
// May include: texture/texel.h, memory/view.h, device/num.h.
#ifndef GS_SOFTCUDA_INTERP_EXEC_H
#define GS_SOFTCUDA_INTERP_EXEC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"
#include "softcuda/memory/view.h"

// ---- Programs

struct exec_program;

// The requirements of one kernel (.entry). `func` has the parameters (offset and size of each), and
// maxntid, reqntid, minnctapersm as written.
struct exec_kernel {
    const struct ptx_func *func;
    const struct exec_program *program;
    uint32_t
        registers; // 32-bit registers of a thread, as ptxas would count them: an estimate, 16..255
    uint32_t shared_bytes;   // static shared memory of a block, including that of all functions it
                             // may call
    uint32_t local_bytes;    // local memory of a thread, without the call stack
    bool uses_dynamic_stack; // recursion, alloca or indirect calls: the stack limit decides
};

// ---- Grids

enum { EXEC_CLUSTER_BLOCKS = 16 };

struct image; // texture/texel.h
struct texture;

// The services that a kernel uses outside memory. Called by engine threads, several at once.
struct exec_device {
    // Takes the LENGTH bytes, formatted, that device printf writes.
    void (*print)(void *context, const char *text, size_t length);
    // Device malloc and free. allocate returns 0 when the heap is full. release returns false for
    // an address that allocate did not give: the kernel then faults (EXEC_FAULT_ILLEGAL_ADDRESS).
    uint64_t (*allocate)(void *context, uint64_t size);
    bool (*release)(void *context, uint64_t address);
    // Finds the texture or surface for a handle; the result is valid until the turn ends. NULL:
    // there is none. A device without any has NULL here.
    const struct texture *(*texture)(void *context, uint64_t handle);
    const struct image *(*surface)(void *context, uint64_t handle);
    void *context;

    // Counts PTX instructions times the active threads that run them; NULL: the device does not
    // count. A thread that takes a brx.idx or an indirect call later than others of its warp counts
    // the instruction for each turn that it waits.
    _Atomic uint64_t *thread_instructions;

    uint32_t sm_count;  // %nsmid
    uint32_t clock_khz; // %clock runs at this rate against CLOCK_MONOTONIC
    uint32_t turn;      // instructions before a warp and its path yield; 0: the default
};

struct exec_grid {
    const struct exec_kernel *kernel;
    const struct exec_device *device;
    uint64_t id;             // %gridid
    uint32_t grid_dim[3];    // 1 .. 2^31-1, 65535, 65535
    uint32_t block_dim[3];   // product 1 .. 1024
    uint32_t cluster_dim[3]; // divides grid_dim, product at most EXEC_CLUSTER_BLOCKS; zeros where
                             // the launch has no clusters
    uint32_t dynamic_shared; // bytes, at most 227 KiB including static shared memory
    uint32_t stack_bytes;    // CU_LIMIT_STACK_SIZE: local memory for the call stack of a thread
    uint64_t workspace; // cooperative launches: address for grid.sync(), high half in %envreg1 and
                        // low half in %envreg2; else 0
    const uint8_t *params; // kernel->func->param_bytes bytes, aligned to 16
    _Atomic bool stop; // the grid is being abandoned: exec_block_run should return soon (relaxed)
    // The number of grids that griddepcontrol.wait waits for: those that this grid depends on and
    // that have allowed it to begin before their end. Acquire: pairs with the release at such a
    // grid's end.
    _Atomic uint32_t awaited;
    // Counts the blocks that have called griddepcontrol.launch_dependents, or are done; NULL: not
    // needed.
    _Atomic uint64_t *let_go;
};

// The cluster's size in dimension I, in blocks; 1 without clusters.
static inline uint32_t exec_cluster_dim(const struct exec_grid *grid, unsigned i)
{
    return grid->cluster_dim[i] ? grid->cluster_dim[i] : 1;
}

static inline uint32_t exec_cluster_size(const struct exec_grid *grid)
{
    return exec_cluster_dim(grid, 0) * exec_cluster_dim(grid, 1) * exec_cluster_dim(grid, 2);
}

// ---- Blocks

enum exec_status {
    EXEC_DONE,    // every thread exited
    EXEC_YIELD,   // the budget is used up
    EXEC_WAITING, // nothing can run before some time has passed (nanosleep): run other tasks first
    EXEC_FAULT,
};

enum exec_fault_kind {
    EXEC_FAULT_NONE,
    EXEC_FAULT_ILLEGAL_ADDRESS,     // not mapped, or not writable; shared or local out of bounds
    EXEC_FAULT_MISALIGNED,          // address not a multiple of the access size
    EXEC_FAULT_ILLEGAL_INSTRUCTION, // an operand no hardware accepts, e.g. a bad barrier number
    EXEC_FAULT_ADDRESS_SPACE,       // atomics or cp.async on a space that has none
    EXEC_FAULT_INVALID_PC,          // indirect call or branch to something other than a function
    EXEC_FAULT_TRAP,
    EXEC_FAULT_ASSERT,
    EXEC_FAULT_STACK,     // call stack exhausted
    EXEC_FAULT_DEADLOCK,  // no thread of the block can ever continue
    EXEC_FAULT_NO_MEMORY, // of the host, for the block's state
};

struct exec_fault {
    enum exec_fault_kind kind;
    uint64_t address;     // of the access, if there is one
    uint32_t line;        // of the PTX text
    const char *function; // in which it happened; lives as long as the program
    uint32_t block[3];
    uint32_t thread[3];
};

struct exec_block;

// Makes a holder, which runs one cluster of GRID after another; without clusters, one block. The
// blocks of a cluster run in one turn. 0, -ENOMEM, or -EAGAIN: other blocks use the memory that it
// needs, and free it when they are done.
int exec_block_new(const struct exec_grid *grid, struct exec_block **out);
void exec_block_free(struct exec_block *block); // NULL is allowed; the block may be unfinished

// Starts the cluster with linear index INDEX (x fastest) in the holder, each block on its SM in
// SMIDS. As on hardware, shared memory is not cleared, except that no other grid's data may appear
// in it.
void exec_block_start(struct exec_block *block, uint64_t index, const uint32_t *smids);

// Runs up to BUDGET warp instructions. VIEW, which is valid during this call only, gives access to
// memory. FAULT is set if EXEC_FAULT is returned. After EXEC_DONE or EXEC_FAULT the holder may be
// started again or freed. The call does not return just because a block waits at a barrier that its
// own threads will reach.
enum exec_status exec_block_run(struct exec_block *block, struct mem_view *view, uint64_t budget,
                                struct exec_fault *fault);

#endif
