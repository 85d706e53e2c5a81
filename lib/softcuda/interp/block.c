// Functions of a block that every file of the interpreter needs: to record a fault, and to charge
// host memory. Depends on no other file here.
#include <errno.h>

#include "softcuda/interp/path.h"

// Limits of the host memory for registers and local memory: of one block, and of all together. They
// bound kernels with tens of thousands of registers. Above BEGIN_MEMORY no block begins, so that
// the running ones can finish.
#define BLOCK_MEMORY ((uint64_t)1 << 30)
#define ALL_MEMORY   ((uint64_t)4 << 30)
#define BEGIN_MEMORY ((uint64_t)3 << 30)
static _Atomic uint64_t all_memory; // only a bound, so relaxed

int warp_fault(struct warp *w, const struct insn *in, uint32_t mask, enum exec_fault_kind kind,
               uint64_t address)
{
    struct exec_block *b = w->block;
    unsigned lane = mask ? (unsigned)__builtin_ctz(mask) : 0;
    const struct code *code = w->frame->code;
    size_t at = (size_t)(in - code->insns);
    b->fault = (struct exec_fault){.kind = kind,
                                   .address = address,
                                   .line = at < code->count ? code->lines[at] : 0,
                                   .function = code->func->name};
    for (unsigned i = 0; i < 3; i++) {
        b->fault.block[i] = b->index[i];
        b->fault.thread[i] = w->tid[i][lane];
    }
    return STEP_FAULT;
}

static int charge(struct exec_block *b, size_t bytes, uint64_t most)
{
    uint64_t before = atomic_fetch_add_explicit(&all_memory, bytes, memory_order_relaxed);
    bool fits = b->memory_bytes + bytes <= BLOCK_MEMORY;
    if (fits && before + bytes <= most) {
        b->memory_bytes += bytes;
        return 0;
    }
    atomic_fetch_sub_explicit(&all_memory, bytes, memory_order_relaxed);
    return fits && before > 0 ? -EAGAIN : -ENOMEM;
}

bool block_charge(struct exec_block *b, size_t bytes)
{
    return charge(b, bytes, ALL_MEMORY) == 0;
}

int block_admit(struct exec_block *b, size_t bytes)
{
    return charge(b, bytes, BEGIN_MEMORY);
}

void block_discharge(struct exec_block *b)
{
    atomic_fetch_sub_explicit(&all_memory, b->memory_bytes, memory_order_relaxed);
    b->memory_bytes = 0;
}
