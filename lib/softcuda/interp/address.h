// The host addresses of a warp's access: of each active lane, checked against the device's
// mappings, the block's shared memory, the threads' local memory or the kernel's parameters.
// Included by every file that accesses a guest's memory, and so compiled once per instruction set
// of the host.
#ifndef GS_SOFTCUDA_INTERP_ADDRESS_H
#define GS_SOFTCUDA_INTERP_ADDRESS_H

#include "softcuda/device/num.h"
#include "softcuda/interp/interp.h"

static inline bool block_has_ended(const struct exec_block *b)
{
    uint32_t i = 0;
    while (i < b->nwarps && b->warps[i].dead == ALL_LANES)
        i++;
    return i == b->nwarps;
}

// The host address of OFFSET in the window of shared memory, of the block or of another block of
// its cluster; 0 if that block has ended, as on hardware.
static inline uint64_t shared_address(const struct exec_block *b, uint64_t offset, uint64_t bytes)
{
    uint64_t block = offset >> CLUSTER_SHIFT;
    if (block > b->cluster_size)
        return 0;
    if (block) {
        b = b->cluster[block - 1];
        if (block_has_ended(b))
            return 0;
        offset &= ((uint64_t)1 << CLUSTER_SHIFT) - 1;
    }
    return offset <= b->shared_bytes && bytes <= b->shared_bytes - offset
               ? (uint64_t)(uintptr_t)b->shared + offset
               : 0;
}

// Returns the host address of a generic address of one lane; 0 if BYTES bytes there may not be
// accessed in this way.
static inline uint64_t lane_generic(struct warp *w, unsigned lane, uint64_t address, uint64_t bytes,
                                    uint32_t access)
{
    const struct exec_block *b = w->block;
    uint64_t window = address & ~0xffffffffull, offset = address & 0xffffffffull;
    if (window == MEM_SHARED_WINDOW)
        return shared_address(b, offset, bytes);
    if (window == MEM_LOCAL_WINDOW)
        return offset <= b->local_bytes && bytes <= b->local_bytes - offset
                   ? (uint64_t)(uintptr_t)b->local +
                         ((uint64_t)w->index * LANES + lane) * b->local_bytes + offset
                   : 0;
    if (window == MEM_PARAM_WINDOW) {
        uint64_t size = b->grid->kernel->func->param_bytes;
        return access == MEM_READ && offset <= size && bytes <= size - offset
                   ? (uint64_t)(uintptr_t)b->grid->params + offset
                   : 0;
    }
    return mem_allows(w->view, address, bytes, access) ? address : 0;
}

// Handles the lanes one by one: for mixed state spaces, and to find the lane that faulted.
static int lanes_one_by_one(struct warp *w, const struct insn *in, uint32_t mask, uint64_t window,
                            uint32_t bytes, uint32_t access, uint64_t *at)
{
    uint64_t spare = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t address = window + at[l];
        if (window && at[l] >> 32)
            return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS, at[l]);
        if (address & (bytes - 1))
            return warp_fault(w, in, 1u << l, EXEC_FAULT_MISALIGNED, address);
        at[l] = lane_generic(w, l, address, bytes, access);
        if (!at[l])
            return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS, address);
        spare = at[l];
    }
    for (unsigned l = 0; l < LANES; l++)
        at[l] = mask >> l & 1 ? at[l] : spare;
    return STEP_NEXT;
}

static inline bool space_is_narrow(uint8_t space)
{
    return space == SPACE_SHARED_32 || space == SPACE_LOCAL_32 || space == SPACE_GENERIC_32 ||
           space == SPACE_PARAM_32;
}

static inline uint64_t space_window(uint8_t space)
{
    switch (space) {
    case SPACE_SHARED:
    case SPACE_SHARED_32:
        return MEM_SHARED_WINDOW;
    case SPACE_LOCAL:
    case SPACE_LOCAL_32:
        return MEM_LOCAL_WINDOW;
    case SPACE_PARAM:
    case SPACE_PARAM_32:
        return MEM_PARAM_WINDOW;
    default:
        return 0;
    }
}

// Stores the host addresses of an access of BYTES (a power of two) in AT. Lanes outside MASK, which
// is not 0, get the address of a lane inside it. STEP_NEXT, or a fault.
static inline int lanes_address(struct warp *w, const struct insn *in, uint32_t mask,
                                uint32_t bytes, uint32_t access, uint64_t *at)
{
    const struct exec_block *b = w->block;
    uint8_t space = in->mode;
    if (space == SPACE_FRAME) {
        uint64_t offset = w->frame->local_base + in->imm;
        uint64_t base =
            (uint64_t)(uintptr_t)b->local + (uint64_t)w->index * LANES * b->local_bytes + offset;
        if (offset > b->local_bytes || bytes > b->local_bytes - offset)
            return warp_fault(w, in, mask, EXEC_FAULT_STACK, offset);
        if (offset & (bytes - 1))
            return warp_fault(w, in, mask, EXEC_FAULT_MISALIGNED, offset);
        unsigned one = (unsigned)__builtin_ctz(mask);
        for (unsigned l = 0; l < LANES; l++)
            at[l] = base + (uint64_t)(mask >> l & 1 ? l : one) * b->local_bytes;
        return STEP_NEXT;
    }
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint64_t low = UINT64_MAX, high = 0, any = 0;
    if (space_is_narrow(space)) {
        const u32 *pa = SLOT(u32, w, in->a);
        uint32_t imm = (uint32_t)in->imm, spare = pa[first] + imm;
        uint32_t low32 = UINT32_MAX, high32 = 0, any32 = 0;
        for (unsigned l = 0; l < LANES; l++) {
            uint32_t x = mask >> l & 1 ? pa[l] + imm : spare;
            low32 = x < low32 ? x : low32;
            high32 = x > high32 ? x : high32;
            any32 |= x;
            at[l] = x;
        }
        low = low32, high = high32, any = any32;
    } else {
        const u64 *pa = SLOT(u64, w, in->a);
        uint64_t imm = in->imm, spare = pa[first] + imm;
        for (unsigned l = 0; l < LANES; l++) {
            uint64_t x = mask >> l & 1 ? pa[l] + imm : spare;
            low = x < low ? x : low;
            high = x > high ? x : high;
            any |= x;
            at[l] = x;
        }
    }
    uint64_t window = space_window(space), base = 0;
    if (any & (bytes - 1))
        return lanes_one_by_one(w, in, mask, window, bytes, access, at);
    if (space == SPACE_GENERIC && high >> 32 == MEM_SHARED_WINDOW >> 32 &&
        low >> 32 == high >> 32) {
        window = MEM_SHARED_WINDOW;
        base = 0 - window;
        low -= window;
        high -= window;
    } else if (space == SPACE_GENERIC && low <= MEM_PARAM_WINDOW + 0xffffffffull &&
               high >= MEM_SHARED_WINDOW) {
        return lanes_one_by_one(w, in, mask, 0, bytes, access, at);
    }
    if (window == MEM_SHARED_WINDOW) {
        if (high > b->shared_bytes || bytes > b->shared_bytes - high)
            return lanes_one_by_one(w, in, mask, base ? 0 : window, bytes, access, at);
        base += (uint64_t)(uintptr_t)b->shared;
        for (unsigned l = 0; l < LANES; l++)
            at[l] += base;
        return STEP_NEXT;
    }
    if (window == MEM_LOCAL_WINDOW) {
        if (high > b->local_bytes || bytes > b->local_bytes - high)
            return lanes_one_by_one(w, in, mask, window, bytes, access, at);
        base = (uint64_t)(uintptr_t)b->local + (uint64_t)w->index * LANES * b->local_bytes;
        for (unsigned l = 0; l < LANES; l++)
            at[l] += base + (uint64_t)(mask >> l & 1 ? l : first) * b->local_bytes;
        return STEP_NEXT;
    }
    if (window || high + bytes < high || !mem_allows(w->view, low, high - low + bytes, access))
        return lanes_one_by_one(w, in, mask, window, bytes, access, at);
    return STEP_NEXT;
}

#endif
