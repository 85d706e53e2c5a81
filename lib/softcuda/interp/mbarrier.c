// mbarrier: a guest's barrier object, 64 bits in shared memory. A phase ends when no arrival is
// pending and all announced bytes have arrived. A turn runs one warp of a block at a time, so an
// operation is atomic. The guest may write anything to these bits: every pattern is a valid state.
#include "softcuda/interp/address.h"

// From the low end: arrivals that a phase expects, pending arrivals, pending bytes (negative if
// they arrived before they were announced), and the phase.
enum { COUNT_BITS = 20, BYTES_BITS = 21, PENDING_AT = 20, BYTES_AT = 40, PHASE_AT = 61 };

struct mbarrier {
    uint32_t expected, pending;
    int32_t bytes;
    uint32_t phase;
};

static uint32_t field(uint64_t object, unsigned at, unsigned bits)
{
    return (uint32_t)(object >> at) & ((1u << bits) - 1);
}

static struct mbarrier unpack(uint64_t object)
{
    return (struct mbarrier){
        .expected = field(object, 0, COUNT_BITS),
        .pending = field(object, PENDING_AT, COUNT_BITS),
        .bytes = (int32_t)(field(object, BYTES_AT, BYTES_BITS) << (32 - BYTES_BITS)) >>
                 (32 - BYTES_BITS),
        .phase = (uint32_t)(object >> PHASE_AT),
    };
}

static uint64_t pack(struct mbarrier m)
{
    return field(m.expected, 0, COUNT_BITS) |
           (uint64_t)field(m.pending, 0, COUNT_BITS) << PENDING_AT |
           (uint64_t)field((uint32_t)m.bytes, 0, BYTES_BITS) << BYTES_AT |
           (uint64_t)m.phase << PHASE_AT;
}

static uint32_t less(uint32_t a, uint32_t b)
{
    return a > b ? a - b : 0;
}

static void end_phase(struct mbarrier *m)
{
    if (m->pending || m->bytes)
        return;
    m->pending = m->expected;
    m->phase++;
}

static void announce(struct mbarrier *m, uint32_t bytes)
{
    m->bytes += (int32_t)field(bytes, 0, COUNT_BITS);
}

static uint64_t after_arrive(uint64_t object, const struct insn *in, uint32_t operand)
{
    struct mbarrier m = unpack(object);
    uint32_t count = in->flags & INSN_EXPECT_TX ? 1 : operand;
    if (in->flags & INSN_EXPECT_TX)
        announce(&m, operand);
    if (in->target == PTX_OP_MBARRIER_ARRIVE_DROP)
        m.expected = less(m.expected, count);
    m.pending = less(m.pending, count);
    end_phase(&m);
    return pack(m);
}

// Announcing bytes never ends a phase.
static uint64_t after_announcement(uint64_t object, uint32_t bytes)
{
    struct mbarrier m = unpack(object);
    announce(&m, bytes);
    return pack(m);
}

void mbarrier_complete(u64 *object, uint32_t bytes)
{
    struct mbarrier m = unpack(*object);
    m.bytes -= (int32_t)field(bytes, 0, COUNT_BITS);
    end_phase(&m);
    *object = pack(m);
}

// Whether the phase in which STATE was taken, or which PARITY names, is over.
static bool is_past(uint64_t object, const struct warp *w, const struct insn *in, unsigned lane)
{
    uint64_t phase = object >> PHASE_AT;
    return in->flags & INSN_PARITY ? (phase & 1) != (SLOT(u32, w, in->b)[lane] & 1)
                                   : phase != SLOT(u64, w, in->b)[lane] >> PHASE_AT;
}

static void change(struct warp *w, const struct insn *in, unsigned lane, u64 *object)
{
    uint64_t old = *object;
    uint32_t operand = in->b == NO_OPERAND ? 1 : SLOT(u32, w, in->b)[lane];
    switch (in->target) {
    case PTX_OP_MBARRIER_INIT:
        *object = pack((struct mbarrier){.expected = operand, .pending = operand});
        break;
    case PTX_OP_MBARRIER_INVAL:
        *object = 0;
        break;
    case PTX_OP_CP_ASYNC_MBARRIER: // the copies are done; without .noinc the arrival was announced,
                                   // too
        if (in->flags & INSN_NOINC)
            *object = after_arrive(old, in, 1);
        break;
    case PTX_OP_MBARRIER_EXPECT_TX:
        *object = after_announcement(old, operand);
        break;
    case PTX_OP_MBARRIER_COMPLETE_TX:
        mbarrier_complete(object, operand);
        break;
    default:
        *object = after_arrive(old, in, operand);
        SLOT(u64, w, in->d)[lane] = old;
        break;
    }
}

int op_mbarrier(struct warp *w, const struct insn *in, uint32_t mask)
{
    _Alignas(SLOT_ALIGN) uint64_t at[LANES];
    int step = lanes_address(w, in, mask, 8, MEM_READ | MEM_WRITE, at);
    if (step)
        return step;
    w->strong++;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        change(w, in, l, mem_pointer(at[l]));
    }
    return STEP_NEXT;
}

// A wait with a time limit yields to the other warps once: any limit may be over then.
int op_mbarrier_wait(struct warp *w, const struct insn *in, uint32_t mask)
{
    _Alignas(SLOT_ALIGN) uint64_t at[LANES];
    uint32_t passed = 0;
    int step = lanes_address(w, in, mask, 8, MEM_READ, at);
    if (step)
        return step;
    w->strong++;
    for (unsigned l = 0; l < LANES; l++)
        if (mask >> l & 1)
            passed |= (uint32_t)is_past(*(u64 *)mem_pointer(at[l]), w, in, l) << l;
    u32 *d = SLOT(u32, w, in->d);
    *d = (*d & ~mask) | passed;
    if (passed != mask && in->target == PTX_OP_MBARRIER_TRY_WAIT)
        w->left = 0;
    return STEP_NEXT;
}
