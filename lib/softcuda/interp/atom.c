// Atomics: atom and red on global and shared memory, by the host's own atomics, because other
// blocks run on other threads. Every operation is sequentially consistent, which is at least as
// strong as any order in PTX.
#include "softcuda/interp/address.h"

// Flag for additions in global memory: they flush f32 subnormals, and return a NaN of f64
// unchanged, the operand's first. Additions in shared memory do neither: other units of the
// hardware make them.
#define GLOBAL_SUM 0x100u // combined with the operation

// Returns the result of an operation on integers of 16 to 64 bits.
static uint64_t integer_result(uint32_t aop, enum ptx_type t, uint64_t old, uint64_t b, uint64_t c)
{
    bool is_signed = ptx_type_is_signed(t), wide = ptx_type_bits(t) == 64;
    bool less = !is_signed ? old < b : wide ? (int64_t)old < (int64_t)b : (int32_t)old < (int32_t)b;
    switch (aop) {
    case PTX_AOP_ADD:
        return old + b;
    case PTX_AOP_INC:
        return old >= b ? 0 : old + 1;
    case PTX_AOP_DEC:
        return old == 0 || old > b ? b : old - 1;
    case PTX_AOP_MIN:
        return less ? old : b;
    case PTX_AOP_MAX:
        return less ? b : old;
    case PTX_AOP_AND:
        return old & b;
    case PTX_AOP_OR:
        return old | b;
    case PTX_AOP_XOR:
        return old ^ b;
    case PTX_AOP_CAS:
        return old == b ? c : old;
    default: // exch
        return b;
    }
}

static uint32_t half_result(uint32_t aop, bool bf16, uint32_t old, uint32_t b)
{
    float x = bf16 ? bf16_to_f32(old) : f16_to_f32(old), y = bf16 ? bf16_to_f32(b) : f16_to_f32(b);
    float r = aop == PTX_AOP_MIN ? f32_min(x, y) : aop == PTX_AOP_MAX ? f32_max(x, y) : x + y;
    return bf16 ? bf16_from_f32(r) : f16_from_f32(r);
}

static uint64_t float_result(uint32_t aop, enum ptx_type t, uint64_t old, uint64_t b)
{
    bool bf16 = t == PTX_T_BF16 || t == PTX_T_BF16X2;
    uint32_t o = (uint32_t)old, v = (uint32_t)b;
    switch (t) {
    case PTX_T_F32:
        if (aop & GLOBAL_SUM)
            return f32_out(f32_flush(f32_flush(f32_from(o)) + f32_flush(f32_from(v))));
        return f32_out(f32_from(o) + f32_from(v));
    case PTX_T_F64:
        if (aop & GLOBAL_SUM && f64_is_nan(b))
            return b;
        if (aop & GLOBAL_SUM && f64_is_nan(old))
            return old;
        return f64_bits(f64_or_nan(f64_from(old), f64_from(b) + f64_from(old)));
    case PTX_T_F16:
    case PTX_T_BF16:
        return half_result(aop, bf16, o & 0xffffu, v & 0xffffu);
    default:
        return half_result(aop, bf16, o & 0xffffu, v & 0xffffu) |
               half_result(aop, bf16, o >> 16, v >> 16) << 16;
    }
}

static uint64_t result(uint32_t aop, enum ptx_type t, uint64_t old, uint64_t b, uint64_t c)
{
    bool is_float = ptx_type_is_float(t) && aop != PTX_AOP_EXCH && aop != PTX_AOP_CAS;
    return is_float ? float_result(aop, t, old, b) : integer_result(aop, t, old, b, c);
}

#define ATOMIC_BY(T)                                                                               \
    static uint64_t atomic_##T(void *at, uint32_t aop, enum ptx_type t, uint64_t b, uint64_t c)    \
    {                                                                                              \
        T *p = at;                                                                                 \
        T old, new;                                                                                \
        if (aop == PTX_AOP_ADD && !ptx_type_is_float(t))                                           \
            return __atomic_fetch_add(p, (T)b, __ATOMIC_SEQ_CST);                                  \
        if (aop == PTX_AOP_EXCH)                                                                   \
            return __atomic_exchange_n(p, (T)b, __ATOMIC_SEQ_CST);                                 \
        old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                \
        do                                                                                         \
            new = (T)result(aop, t, old, b, c);                                                    \
        while (!__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST,                 \
                                            __ATOMIC_RELAXED));                                    \
        return old;                                                                                \
    }
ATOMIC_BY(u16)
ATOMIC_BY(u32)
ATOMIC_BY(u64)
#undef ATOMIC_BY

void atom_reduce(void *at, uint32_t aop, enum ptx_type type, uint64_t value, bool shared)
{
    if (aop == PTX_AOP_ADD && (type == PTX_T_F32 || type == PTX_T_F64) && !shared)
        aop |= GLOBAL_SUM;
    switch (ptx_type_bits(type)) {
    case 16:
        atomic_u16(at, aop, type, value, 0);
        break;
    case 32:
        atomic_u32(at, aop, type, value, 0);
        break;
    default:
        atomic_u64(at, aop, type, value, 0);
        break;
    }
}

// Swaps 16 bytes at once. Compilers only inline that with an option that would apply to the whole
// file.
static bool swap_b128(uint64_t *at, uint64_t old[2], const uint64_t new[2])
{
    bool swapped;
#ifdef __x86_64__
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(swapped), "+m"(*(unsigned __int128 *)at), "+a"(old[0]), "+d"(old[1])
                     : "b"(new[0]), "c"(new[1])
                     : "memory");
#else
    unsigned __int128 was = (unsigned __int128)old[1] << 64 | old[0];
    swapped = __atomic_compare_exchange_n((unsigned __int128 *)at, &was,
                                          (unsigned __int128)new[1] << 64 | new[0], false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    old[0] = (uint64_t)was;
    old[1] = (uint64_t)(was >> 64);
#endif
    return swapped;
}

// Does exch and cas. The upper half of a 128-bit register is stored behind the lower halves of all
// lanes.
static int atomic_b128(struct warp *w, const struct insn *in, uint32_t mask, const uint64_t *at)
{
    const u64 *b = SLOT(u64, w, in->b), *c = SLOT(u64, w, in->c);
    u64 *d = in->d == NO_OPERAND ? NULL : SLOT(u64, w, in->d);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t *p = mem_pointer(at[l]), old[2] = {b[l], b[l + LANES]},
                 new[2] = {c[l], c[l + LANES]};
        if (in->target == PTX_AOP_CAS)
            swap_b128(p, old, new);
        else
            while (!swap_b128(p, old, new))
                ;
        if (d) {
            d[l] = old[0];
            d[l + LANES] = old[1];
        }
    }
    return STEP_NEXT;
}

// Whether a generic address is in shared memory, of any block of the cluster; if not, it is global.
static bool is_in_shared(const struct warp *w, uint64_t host)
{
    const struct exec_block *b = w->block;
    for (uint32_t k = 0; k < b->cluster_size; k++)
        if (host - (uint64_t)(uintptr_t)b->cluster[k]->shared < b->shared_bytes)
            return true;
    return false;
}

int op_atom(struct warp *w, const struct insn *in, uint32_t mask)
{
    _Alignas(SLOT_ALIGN) uint64_t at[LANES];
    enum ptx_type t = (enum ptx_type)in->type;
    uint32_t bytes = ptx_type_bits(t) / 8;
    bool wide = bytes == 8;
    uint32_t aop = in->target;
    uint64_t window = space_window(in->mode);
    if (window == MEM_LOCAL_WINDOW || window == MEM_PARAM_WINDOW || in->mode == SPACE_FRAME)
        return warp_fault(w, in, mask, EXEC_FAULT_ADDRESS_SPACE, 0);
    int step = lanes_address(w, in, mask, bytes, MEM_READ | MEM_WRITE, at);
    if (step)
        return step;
    bool sum = aop == PTX_AOP_ADD && (t == PTX_T_F32 || t == PTX_T_F64);
    w->strong++;
    if (bytes == 16)
        return atomic_b128(w, in, mask, at);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t b = wide ? SLOT(u64, w, in->b)[l] : SLOT(u32, w, in->b)[l];
        uint64_t c = wide ? SLOT(u64, w, in->c)[l] : SLOT(u32, w, in->c)[l];
        void *p = mem_pointer(at[l]);
        if (sum)
            aop = PTX_AOP_ADD | (is_in_shared(w, at[l]) ? 0 : GLOBAL_SUM);
        uint64_t old = wide         ? atomic_u64(p, aop, t, b, c)
                       : bytes == 4 ? atomic_u32(p, aop, t, b, c)
                                    : atomic_u16(p, aop, t, b & 0xffffu, c);
        if (in->d == NO_OPERAND)
            continue;
        if (wide)
            SLOT(u64, w, in->d)[l] = old;
        else
            SLOT(u32, w, in->d)[l] = (uint32_t)old;
    }
    return STEP_NEXT;
}
