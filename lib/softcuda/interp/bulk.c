// cp.async.bulk and cp.reduce.async.bulk: copies of any multiple of 16 bytes between global and
// shared memory, and atomic operations on each element there. They are done at once, lane by lane.
// An mbarrier object that waits for the bytes gets them with the copy.
#include "softcuda/interp/address.h"

// A step is the work of one warp instruction: 32 lanes store 8 bytes each, or reduce an element.
enum { BULK_GRAIN = 16, BYTES_PER_STEP = 256, ELEMENTS_PER_STEP = 32 };

// Returns the address of one side of a copy. An address beyond the window of its space becomes the
// window's end, where nothing is mapped.
uint64_t bulk_address(const struct warp *w, const uint32_t *mem, unsigned lane)
{
    uint8_t space = (uint8_t)mem[1];
    uint64_t window = space_window(space), imm = mem[2] | (uint64_t)mem[3] << 32;
    uint64_t at = space_is_narrow(space) ? (uint32_t)(SLOT(u32, w, mem[0])[lane] + (uint32_t)imm)
                                         : SLOT(u64, w, mem[0])[lane] + imm;
    return window + (window && at >> 32 ? 0xfffffff0u : at);
}

void *bulk_memory(struct warp *w, const struct insn *in, uint64_t address, unsigned lane,
                  uint32_t align, uint32_t bytes, uint32_t access)
{
    uint64_t at;
    if (address % align) {
        warp_fault(w, in, 1u << lane, EXEC_FAULT_MISALIGNED, address);
        return NULL;
    }
    at = lane_generic(w, lane, address, bytes, access);
    if (!at)
        warp_fault(w, in, 1u << lane, EXEC_FAULT_ILLEGAL_ADDRESS, address);
    return mem_pointer(at);
}

static void *memory_at(struct warp *w, const struct insn *in, const uint32_t *mem, unsigned lane,
                       uint32_t align, uint32_t bytes, uint32_t access)
{
    return bulk_memory(w, in, bulk_address(w, mem, lane), lane, align, bytes, access);
}

// Each element is reduced separately: the whole is not atomic.
static void reduce(const struct insn *in, unsigned char *to, const unsigned char *from,
                   uint32_t bytes)
{
    const enum ptx_type type = (enum ptx_type)in->type;
    const uint32_t each = ptx_type_bits(type) / 8;

    for (uint32_t i = 0; i < bytes; i += each) {
        uint64_t value = 0;
        memcpy(&value, from + i, each);
        atom_reduce(to + i, in->mode, type, value, in->target);
    }
}

static uint64_t steps_of(const struct insn *in, uint32_t bytes)
{
    return in->mode ? bytes / (ptx_type_bits((enum ptx_type)in->type) / 8) / ELEMENTS_PER_STEP
                    : bytes / BYTES_PER_STEP;
}

static int copy(struct warp *w, const struct insn *in, unsigned lane)
{
    const uint32_t *aux = w->frame->code->aux + in->aux;
    uint32_t bytes = SLOT(u32, w, in->b)[lane];
    u64 *object = NULL;
    // Copies between shared memories need a launch with clusters, which may consist of one block.
    const bool within = space_window((uint8_t)aux[1]) == MEM_SHARED_WINDOW &&
                        space_window((uint8_t)aux[5]) == MEM_SHARED_WINDOW;
    if (bytes % BULK_GRAIN || (within && !w->block->grid->cluster_dim[0]))
        return warp_fault(w, in, 1u << lane, EXEC_FAULT_ILLEGAL_INSTRUCTION, bytes);
    if (in->target) {
        object =
            memory_at(w, in, aux + 8, lane, sizeof *object, sizeof *object, MEM_READ | MEM_WRITE);
        if (!object)
            return STEP_FAULT;
    }
    if (bytes) { // a copy of no bytes has no address
        void *to = memory_at(w, in, aux, lane, BULK_GRAIN, bytes,
                             in->mode ? MEM_READ | MEM_WRITE : MEM_WRITE);
        const void *from = to ? memory_at(w, in, aux + 4, lane, BULK_GRAIN, bytes, MEM_READ) : NULL;
        if (!from)
            return STEP_FAULT;
        if (in->mode)
            reduce(in, to, from, bytes);
        else
            memmove(to, from, bytes);
    }
    if (object)
        mbarrier_complete(object, bytes);
    uint64_t steps = steps_of(in, bytes);
    w->left -= steps < w->left ? steps : w->left;
    return STEP_NEXT;
}

int op_bulk(struct warp *w, const struct insn *in, uint32_t mask)
{
    w->strong++;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int step = copy(w, in, (unsigned)__builtin_ctz(rest));
        if (step)
            return step;
    }
    return STEP_NEXT;
}
