// Internals of the interpreter: decoded instructions, warps, the paths into which a warp's lanes
// split, and frames of calls. Only for this folder and `lower`.
//
// One thread at a time runs a block, so only the guest's own atomics on global memory are atomic
// here. Everything that a guest can choose (addresses, lane numbers, call targets, depths) is
// checked where it is used; what lowering wrote into an instruction is trusted.
#ifndef GS_SOFTCUDA_INTERP_INTERP_H
#define GS_SOFTCUDA_INTERP_INTERP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ptx/ptx.h"
#include "softcuda/interp/exec.h"
#include "softcuda/memory/view.h"

enum {
    LANES = 32,
    BLOCK_WARPS = 32,
    BLOCK_BARRIERS = 16,
    SLOT_ALIGN = 64, // alignment of register windows and constant pools: the host's vectors
};
#define ALL_LANES  0xffffffffu
#define NO_GUARD   0xffffffffu
#define NO_TARGET  0xffffffffu
#define NO_OPERAND 0xfffffffeu

// The window of generic addresses for a kernel's parameters, and that for addresses of functions.
#define MEM_PARAM_WINDOW    ((uint64_t)0x10002 << 32)
#define MEM_FUNCTION_WINDOW ((uint64_t)0x10003 << 32)
// Shared addresses of the cluster's block R begin at (R + 1) << CLUSTER_SHIFT. The block's own
// shared memory is also at addresses without that.
#define CLUSTER_SHIFT       24
#define FUNCTION_STRIDE     16

// Stack that a call takes besides the callee's variables and parameters.
#define CALL_STACK_BYTES 16

struct warp;
struct insn;

// The result of a handler, for the loop.
enum step {
    STEP_NEXT,   // go on
    STEP_SWITCH, // the current path ended, blocked or yielded: choose another
    STEP_FAULT,  // block->fault is filled
};

typedef int insn_fn(struct warp *w, const struct insn *in, uint32_t mask);

// insn.flags
enum {
    INSN_FTZ = 1,
    INSN_SAT = 2,
    INSN_RELU = 4,
    INSN_SATFINITE = 8,
    INSN_SIGNED = 16,
    INSN_STRONG =
        32, // an access that other threads are meant to see: volatile, relaxed, acquire ...
    INSN_PARITY = 64,
    INSN_NOINC = 128,
    INSN_EXPECT_TX = 256,
    INSN_COUNTS = 1 << 15, // the last of the instructions that one PTX instruction was lowered to
};

// The state space of an access: insn.mode of loads, stores and atomics. The _32 variants have their
// address in a 32-bit slot.
enum insn_space {
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_SHARED_32,
    SPACE_LOCAL,
    SPACE_LOCAL_32,
    SPACE_GENERIC,
    SPACE_GENERIC_32,
    SPACE_PARAM, // a kernel parameter, at an address computed at run time
    SPACE_PARAM_32,
    SPACE_FRAME, // local memory at imm from the base of the current frame
};

// One decoded instruction. Operands are byte offsets of slots in the register window; an odd one is
// a constant's slot in the function's pool. The slot of a register of up to 32 bits is 32 lanes x 4
// bytes; of a 64-bit register, 32 x 8; of a predicate, one word with a bit per lane.
struct insn {
    insn_fn *run;
    uint32_t d, a, b, c;
    uint32_t guard;  // slot of a predicate, odd if negated; or NO_GUARD
    uint32_t target; // of a branch: an instruction index; otherwise defined by the handler
    uint64_t imm;    // displacement of an address, or defined by the handler
    uint16_t flags;
    uint8_t mode;  // defined by the handler; for arithmetic enum ptx_rnd
    uint8_t type;  // enum ptx_type
    uint32_t aux;  // index of further operands in code.aux
    uint64_t imm2; // a second displacement
};

#define SLOT(T, w, operand) ((T *)(void *)((w)->base[(operand)&1] + ((operand) & ~1u)))

// A lowered function.
struct code {
    const struct ptx_func *func;
    const struct exec_program *program;
    struct insn *insns;
    uint32_t count;
    uint32_t *lines; // of the PTX text, per instruction
    uint32_t *aux;
    uint8_t *pool; // constants, replicated for all lanes
    uint32_t pool_bytes;
    uint32_t frame_bytes; // registers of one activation
    uint32_t local_bytes; // .local variables and .param space of one activation, per lane
    uint32_t *param_at;   // offset of each parameter within local_bytes, for a non-entry function
    uint32_t *ret_at;
    uint32_t variadic_bytes; // size of the parameter that has no declared size
};

// An address that exec_program_bind must still write to a constant pool.
struct pool_reloc {
    struct code *code;
    uint32_t slot; // without the low bit
    uint32_t var;  // index in module->vars
    int64_t addend;
};

struct kernel_layout {
    uint32_t static_shared;  // bytes of the static variables
    uint32_t dynamic_shared; // where the unsized ones begin
    uint32_t stack_static;   // bytes of call stack if the call graph bounds it, else 0
};

// A range of constant memory, which lies among global memory.
struct const_range {
    uint64_t address, size;
};

struct exec_program {
    const struct ptx_module *module;
    struct code **codes; // by ptx_func.id; NULL without a body
    uint64_t *shared_at; // by module->vars index: offset of .shared variables
    struct pool_reloc *relocs;
    size_t nrelocs, relocs_room;
    struct exec_kernel *kernels;
    struct kernel_layout *layouts; // beside kernels
    size_t nkernels;
    size_t ninsns, pool_bytes;  // of all functions together, to bound them
    struct const_range *consts; // its .const variables, once bound
    size_t nconsts;
};

// The place where lanes that diverged reconverge. When each lane in `want` has arrived at `pc` in
// `frame`, or left, they continue as one path. Joins are nested by `up`, the innermost first; each
// is strictly smaller than the one around it, so a frame has fewer than 32.
struct join {
    struct join *up;
    struct frame *frame;
    uint32_t pc;
    uint32_t want, got;
};

// A frame is one activation of a function by a group of lanes. Lanes that returned wait in
// done.got.
struct frame {
    struct frame *up; // the caller's frame; or the next one in the warp's free list
    const struct code *code;
    uint8_t *regs;
    struct join done;       // done.up: the join around the call
    uint32_t return_pc;     // in the caller
    uint32_t local_base;    // base of this activation's local memory, per lane
    uint32_t local_top;     // its end, alloca included
    const uint32_t *ret_to; // code.aux: where in the caller's local memory the results go
    size_t bytes;
};

enum path_state {
    PATH_READY,
    PATH_BARRIER,  // at block barrier `barrier`
    PATH_CLUSTER,  // at the barrier of the cluster
    PATH_WGMMA,    // in wgmma.fence or wgmma.wait_group, waiting for other warps of the warpgroup
    PATH_MEMBERS,  // at a warp instruction, waiting until all lanes in `members` are there
    PATH_SLEEPING, // until `wake`
};

// A path is a set of lanes that execute together.
struct path {
    uint32_t mask;
    uint32_t pc;
    struct frame *frame;
    struct join *join; // the innermost join; &frame->done if no divergence is open in the frame
    uint8_t state;
    uint8_t barrier;
    uint32_t members;
    const struct insn *at; // the instruction in which it waits
    uint64_t wake;         // CLOCK_MONOTONIC ns
};

// Counters of a warp for wgmma: of fences, and of commits.
enum wgmma_count { WGMMA_FENCES, WGMMA_GROUPS, WGMMA_COUNTS };

struct warp {
    // of the current path
    uint8_t *base[2]; // register window, constant pool
    const struct insn *insns;
    uint32_t pc;
    uint32_t mask;
    uint32_t dead; // lanes that exited or never existed
    uint64_t left; // instructions left in this turn
    struct frame *frame;
    uint32_t current;   // in paths
    uint64_t back_left; // `left` when a loop last jumped back
    uint32_t slice;     // instructions in loops since a path last yielded
    uint32_t patience;  // slices that loops used while others waited in joins
    uint32_t strong;    // accesses that other threads can observe, since joins were last opened

    bool faulted; // outside a handler
    struct exec_block *block;
    struct mem_view *view;
    uint32_t index;
    uint32_t npaths;
    uint32_t joined;     // lanes that wait in joins
    uint32_t at_cluster; // lanes that have arrived at the barrier of the cluster
    uint64_t wgmma[WGMMA_COUNTS];
    struct path paths[LANES];
    struct frame *entry;
    struct frame *free_frames;
    struct join *free_joins;
    uint32_t *tid[3]; // LANES each
};

struct barrier {
    uint32_t arrived[BLOCK_WARPS]; // lanes
    uint32_t threads;              // the thread count in the arrivals; 0: the whole block
    bool used;
    uint32_t popc;
    bool all, any;
};

// The state of a block. The blocks of a cluster belong to the holder of the first one, and are run
// by one thread.
struct exec_block {
    const struct exec_grid *grid;
    struct exec_block **cluster; // the cluster's blocks, by rank; all share the first one's array
    uint32_t cluster_size;
    uint32_t rank;
    bool cluster_waits; // of the first block: threads have arrived at the cluster's barrier
    bool wgmma_waits;   // a path is in PATH_WGMMA
    const struct exec_program *program;
    const struct code *code;
    const struct kernel_layout *layout;
    uint32_t index[3];
    uint32_t smid;
    uint32_t nwarps, nthreads;
    uint8_t *shared;
    uint32_t shared_bytes; // including BLOCK_SHARED_RESERVED at its start
    uint8_t *local;        // local_bytes for each lane, one lane after the other
    uint32_t local_bytes;
    uint64_t memory_bytes; // charged host memory: see block_charge
    uint32_t next_warp;    // the warp that runs next
    uint32_t turn_used;    // instructions used in this turn
    bool let_go;           // counted in grid->let_go
    uint32_t barriers_used;
    struct barrier barriers[BLOCK_BARRIERS];
    struct warp *warps;
    struct exec_fault fault;
    uint64_t counted; // PTX instructions times lanes, if the device counts them
};

// Sets every lane of a 64-bit slot to the value.
static inline void u64_splat(void *slot, uint64_t value)
{
    for (unsigned l = 0; l < LANES; l++)
        memcpy((uint8_t *)slot + 8 * l, &value, sizeof value);
}

// ---- Faults

// Fills block->fault for the lowest lane of MASK. Returns STEP_FAULT.
int warp_fault(struct warp *w, const struct insn *in, uint32_t mask, enum exec_fault_kind kind,
               uint64_t address);

// ---- Paths (interp/path.c)

int op_bra(struct warp *w, const struct insn *in, uint32_t mask);
int op_brx(struct warp *w, const struct insn *in, uint32_t mask);
int op_join(struct warp *w, const struct insn *in, uint32_t mask);
int op_exit(struct warp *w, const struct insn *in, uint32_t mask);
int op_ret(struct warp *w, const struct insn *in, uint32_t mask);
int op_trap(struct warp *w, const struct insn *in, uint32_t mask);
int op_nanosleep(struct warp *w, const struct insn *in, uint32_t mask);
int op_launch_dependents(struct warp *w, const struct insn *in, uint32_t mask);
int op_await_grids(struct warp *w, const struct insn *in, uint32_t mask);
int op_call(struct warp *w, const struct insn *in, uint32_t mask);
int op_call_indirect(struct warp *w, const struct insn *in, uint32_t mask);
int op_alloca(struct warp *w, const struct insn *in, uint32_t mask);
int op_stacksave(struct warp *w, const struct insn *in, uint32_t mask);
int op_stackrestore(struct warp *w, const struct insn *in, uint32_t mask);

// ---- Barriers (interp/barrier.c)

int op_bar_sync(struct warp *w, const struct insn *in, uint32_t mask);
int op_bar_arrive(struct warp *w, const struct insn *in, uint32_t mask);
int op_bar_red(struct warp *w, const struct insn *in, uint32_t mask);
int op_cluster_arrive(struct warp *w, const struct insn *in, uint32_t mask);
int op_cluster_wait(struct warp *w, const struct insn *in, uint32_t mask);
// Called when lanes of the block exit: opens barriers that only waited for these.
void block_recheck_barriers(struct exec_block *block);

// ---- Instructions among the lanes of a warp (interp/warp.c)

int op_bar_warp(struct warp *w, const struct insn *in, uint32_t mask);
int op_shfl(struct warp *w, const struct insn *in, uint32_t mask);
int op_vote(struct warp *w, const struct insn *in, uint32_t mask);
int op_match(struct warp *w, const struct insn *in, uint32_t mask);
int op_redux(struct warp *w, const struct insn *in, uint32_t mask);
int op_elect(struct warp *w, const struct insn *in, uint32_t mask);
int op_activemask(struct warp *w, const struct insn *in, uint32_t mask);
int op_movmatrix(struct warp *w, const struct insn *in, uint32_t mask);
int op_mma(struct warp *w, const struct insn *in, uint32_t mask);
int op_wmma(struct warp *w, const struct insn *in, uint32_t mask);
int op_wmma_load(struct warp *w, const struct insn *in, uint32_t mask);
int op_wmma_store(struct warp *w, const struct insn *in, uint32_t mask);
int op_ldmatrix(struct warp *w, const struct insn *in, uint32_t mask);
int op_stmatrix(struct warp *w, const struct insn *in, uint32_t mask);
int op_wgmma(struct warp *w, const struct insn *in, uint32_t mask);
// The warp counts its arrival, or waits until the other warps of its warpgroup have counted as
// many, less insn.imm. insn.mode: which counter.
int op_wgmma_arrive(struct warp *w, const struct insn *in, uint32_t mask);
int op_wgmma_wait(struct warp *w, const struct insn *in, uint32_t mask);
// Called when lanes exit or a warp has counted: continues paths that only waited for that.
void block_recheck_wgmma(struct exec_block *block);
// Called when lanes exit or arrive: runs groups that are complete now.
void warp_recheck_members(struct warp *w);

// ---- Memory (mem.c, atom.c, bulk.c, tensor.c, mbarrier.c)

int op_ld_param(struct warp *w, const struct insn *in, uint32_t mask);
int op_atom(struct warp *w, const struct insn *in, uint32_t mask);
int op_fence(struct warp *w, const struct insn *in, uint32_t mask);
int op_isspacep(struct warp *w, const struct insn *in, uint32_t mask);
int op_mapa(struct warp *w, const struct insn *in, uint32_t mask);
int op_getctarank(struct warp *w, const struct insn *in, uint32_t mask);
int op_cp_async(struct warp *w, const struct insn *in, uint32_t mask);
int op_bulk(struct warp *w, const struct insn *in, uint32_t mask);
// The generic address, for one lane, in four words of code.aux, as lower_put_mem writes them.
uint64_t bulk_address(const struct warp *w, const uint32_t *mem, unsigned lane);
// Returns the host address of a generic address. NULL and a fault if it is not aligned to ALIGN, or
// BYTES there may not be accessed.
void *bulk_memory(struct warp *w, const struct insn *in, uint64_t address, unsigned lane,
                  uint32_t align, uint32_t bytes, uint32_t access);
// The kind of a tensor copy; insn.target. insn.mode is the operation of a reduction, insn.b the
// number of dimensions, insn.a the slot of the map's address. In code.aux: as many slots of
// coordinates as there may be, the address of the box, the address of the mbarrier object, and the
// slot of a mask of the destination blocks, or NO_OPERAND.
enum tensor_copy { TENSOR_LOAD, TENSOR_STORE, TENSOR_PREFETCH };
enum { TENSOR_BOX_AT = 5, TENSOR_OBJECT_AT = 9, TENSOR_MASK_AT = 13, TENSOR_AUX = 14 };
int op_tensor(struct warp *w, const struct insn *in, uint32_t mask);
int op_mbarrier(struct warp *w, const struct insn *in, uint32_t mask);
int op_mbarrier_wait(struct warp *w, const struct insn *in, uint32_t mask);
// Does an atomic operation of PTX, except cas, at AT, which is aligned. SHARED: AT is in shared
// memory.
void atom_reduce(void *at, uint32_t aop, enum ptx_type type, uint64_t value, bool shared);
// BYTES for which the mbarrier object waits have arrived.
void mbarrier_complete(uint64_t *object, uint32_t bytes);

// ---- Values of the machine (interp/value.c)

int op_sreg(struct warp *w, const struct insn *in, uint32_t mask);
int op_is_explicit_cluster(struct warp *w, const struct insn *in, uint32_t mask);
int op_local_address(struct warp *w, const struct insn *in, uint32_t mask);
int op_dynamic_shared(struct warp *w, const struct insn *in, uint32_t mask);
int op_carry(struct warp *w, const struct insn *in, uint32_t mask);
int op_video(struct warp *w, const struct insn *in, uint32_t mask);
int op_bfi_b32(struct warp *w, const struct insn *in, uint32_t mask);
int op_bfi_b64(struct warp *w, const struct insn *in, uint32_t mask);

// ---- Functions that the device provides (interp/builtin.c)

struct builtin {
    const char *name;
    insn_fn *run;
    uint32_t nparams;
    uint32_t param_bytes[5];
    uint32_t ret_bytes;
};
const struct builtin *builtin_find(const char *name);

// ---- Handlers that compute lane by lane (interp/alu.def)

enum alu {
#define ALU_NAME(name) ALU_##name,
#include "softcuda/interp/alu_names.h"
    ALU_COUNT
};
// Returns the table of handlers for this host, which is selected once.
insn_fn *const *alu_table(void);
extern insn_fn *const alu_table_base[ALU_COUNT];
extern insn_fn *const alu_table_avx2[ALU_COUNT];
extern insn_fn *const alu_table_avx512[ALU_COUNT];

#endif
