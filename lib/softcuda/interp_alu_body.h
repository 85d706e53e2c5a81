/* The handlers of interp_alu.def as functions. Compiled once per instruction set of the host: the includer sets the
 * target and ALU_TABLE, the name of the table of functions that results. A handler reads and writes only the slots of the
 * warp that it is given; lanes outside the mask keep what they have, lanes that do not exist may get anything. */
#include <fenv.h>

#include "softcuda/interp.h"
#include "softcuda/interp_address.h"
#include "softcuda/interp_num.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" // a loop with libm calls stays scalar
#define LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANE_LOOP _Pragma("GCC ivdep")
#endif

static const int host_rounding[] = {
    [PTX_RND_NONE] = FE_TONEAREST, [PTX_RND_RN] = FE_TONEAREST,  [PTX_RND_RZ] = FE_TOWARDZERO,
    [PTX_RND_RM] = FE_DOWNWARD,    [PTX_RND_RP] = FE_UPWARD,     [PTX_RND_RNA] = FE_TONEAREST,
    [PTX_RND_RS] = FE_TONEAREST,   [PTX_RND_RNI] = FE_TONEAREST, [PTX_RND_RZI] = FE_TONEAREST,
    [PTX_RND_RMI] = FE_TONEAREST,  [PTX_RND_RPI] = FE_TONEAREST,
};

/* ---- What a modifier does to an operand (start) and to a result (finish) ---- */

static inline float f32_start(const struct insn *in, float x)
{
    return in->flags & INSN_FTZ ? f32_flush(x) : x;
}

static inline uint32_t f32_finish(const struct insn *in, float x)
{
    x = in->flags & INSN_FTZ ? f32_flush(x) : x;
    x = in->flags & INSN_SAT ? f32_saturate(x) : x;
    x = in->flags & INSN_RELU && x <= 0.0f ? 0.0f : x;
    return f32_out(x);
}

static inline double f64_finish(const struct insn *in, double x)
{
    return in->flags & INSN_SAT ? f64_saturate(x) : x;
}

static inline float f16_start(const struct insn *in, uint32_t h)
{
    return f16_to_f32(in->flags & INSN_FTZ ? f16_flush(h) : h);
}

static inline float half_finish(const struct insn *in, float x)
{
    x = in->flags & INSN_SAT ? f32_saturate(x) : x;
    return in->flags & INSN_RELU && x <= 0.0f ? 0.0f : x;
}

static inline uint32_t f16_finish(const struct insn *in, float x)
{
    uint32_t h = f16_from_f32(half_finish(in, x));
    return in->flags & INSN_FTZ ? f16_flush(h) : h;
}

static inline uint32_t bf16_finish(const struct insn *in, float x)
{
    return bf16_from_f32(half_finish(in, x));
}

/* Saturation and relu look at the rounded value, so they follow the one rounding. */
static inline uint32_t f16_fma_any(const struct insn *in, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t h = f16_fma(f16_start(in, a), f16_start(in, b), f16_start(in, c));
    return in->flags & (INSN_SAT | INSN_RELU | INSN_FTZ) ? f16_finish(in, f16_to_f32(h)) : h;
}

static inline uint32_t bf16_fma_any(const struct insn *in, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t h = bf16_fma(bf16_to_f32(a), bf16_to_f32(b), bf16_to_f32(c));
    return in->flags & (INSN_SAT | INSN_RELU) ? bf16_finish(in, bf16_to_f32(h)) : h;
}

/* ---- Operations that have no operator ---- */

static inline float f32_add(float a, float b)
{
    return a + b;
}

static inline float f32_sub(float a, float b)
{
    return a - b;
}

static inline float f32_mul(float a, float b)
{
    return a * b;
}

static inline float f32_div(float a, float b)
{
    return a / b;
}

static inline float f32_rcp(float a)
{
    return 1.0f / a;
}

static inline float f32_rsqrt(float a)
{
    return (float)(1.0 / sqrt((double)a));
}

static inline float f32_min_nan(float a, float b)
{
    return a != a || b != b ? f32_from(F32_NAN) : f32_min(a, b);
}

static inline float f32_max_nan(float a, float b)
{
    return a != a || b != b ? f32_from(F32_NAN) : f32_max(a, b);
}

static inline float f32_copysign(float sign, float magnitude)
{
    return copysignf(magnitude, sign);
}

/* The approximate f64 instructions keep the upper word only. */
static inline uint64_t f64_rcp_approx(double a)
{
    if (fabs(a) < 0x1p-1022)
        return f64_bits(copysign(INFINITY, a));
    double r = 1.0 / a;
    return f64_bits(fabs(r) < 0x1p-1022 ? copysign(0.0, r) : r) & ~0xffffffffull;
}

static inline uint64_t f64_rsqrt_approx(double a)
{
    if (fabs(a) < 0x1p-1022)
        return f64_bits(copysign(INFINITY, a));
    return f64_bits(1.0 / sqrt(a)) & ~0xffffffffull;
}

static inline float f32_to_integral(const struct insn *in, float x)
{
    switch (in->mode) {
    case PTX_RND_RZI:
        return truncf(x);
    case PTX_RND_RMI:
        return floorf(x);
    case PTX_RND_RPI:
        return ceilf(x);
    default:
        return rintf(x);
    }
}

static inline double f64_to_integral(const struct insn *in, double x)
{
    switch (in->mode) {
    case PTX_RND_RZI:
        return trunc(x);
    case PTX_RND_RMI:
        return floor(x);
    case PTX_RND_RPI:
        return ceil(x);
    default:
        return rint(x);
    }
}

static inline uint32_t f32_to_s32_rzi(float x)
{
    int32_t inside = (int32_t)(x >= -0x1p31f && x < 0x1p31f ? x : 0.0f);
    return x >= 0x1p31f ? 0x7fffffffu : x < -0x1p31f ? 0x80000000u : (uint32_t)inside;
}

static inline uint32_t f32_to_u32_rzi(float x)
{
    uint32_t inside = (uint32_t)(x > -1.0f && x < 0x1p32f ? x : 0.0f);
    return x >= 0x1p32f ? UINT32_MAX : inside;
}

/* Clamps to in->imm bits. A NaN is 0, or the one high bit where either side is 64 bits wide (WIDE). */
static inline uint64_t float_to_int(const struct insn *in, double x, bool wide)
{
    unsigned bits = (unsigned)in->imm;
    if (x != x)
        return wide ? 1ull << (bits - 1) : 0;
    x = f64_to_integral(in, x);
    if (in->flags & INSN_SIGNED) {
        double limit = ldexp(1.0, (int)bits - 1);
        uint64_t top = 1ull << (bits - 1);
        return x >= limit ? top - 1 : x < -limit ? 0 - top : (uint64_t)(int64_t)x;
    }
    return x <= 0.0 ? 0 : x >= ldexp(1.0, (int)bits) ? UINT64_MAX >> (64 - bits) : (uint64_t)x;
}

/* X on the grid of a format with FRACTION stored bits, exponents from MIN_EXP, greatest value MAX; by in->mode. The scale
 * is a power of two, so only the one rounding is inexact. */
static double float_round(const struct insn *in, double x, int fraction, int min_exp, double max)
{
    if (x != x || x == 0.0)
        return x;
    bool to_zero = in->mode == PTX_RND_RZ;
    bool down = in->mode == PTX_RND_RM, up = in->mode == PTX_RND_RP;
    if (!isinf(x)) {
        int e = ilogb(x);
        int ulp = (e < min_exp ? min_exp : e) - fraction;
        double q = ldexp(x, -ulp);
        q = to_zero                      ? trunc(q)
            : down                       ? floor(q)
            : up                         ? ceil(q)
            : in->mode == PTX_RND_RNA ? round(q)
                                         : rint(q);
        x = copysign(ldexp(q, ulp), x);
        if (fabs(x) <= max)
            return x;
        if (in->flags & INSN_SATFINITE || to_zero || (down && x > 0) || (up && x < 0))
            return copysign(max, x);
    } else if (in->flags & INSN_SATFINITE) {
        return copysign(max, x);
    }
    return copysign(INFINITY, x);
}

static uint32_t f16_round(const struct insn *in, double x)
{
    return f16_finish(in, (float)float_round(in, x, 10, -14, 65504.0));
}

static uint32_t bf16_round(const struct insn *in, double x)
{
    return bf16_finish(in, (float)float_round(in, x, 7, -126, 0x1.fep127));
}

static uint32_t tf32_round(const struct insn *in, float x)
{
    return f32_finish(in, (float)float_round(in, (double)x, 10, -126, 0x1.ffcp127));
}

/* 8-bit floats with EXP exponent bits, 4 or 5; these conversions always saturate to a finite value. */
static uint32_t fp8_from_f32(const struct insn *in, int exp, float x)
{
    int fraction = 7 - exp, bias = exp == 4 ? 7 : 15;
    double max = exp == 4 ? 448.0 : 57344.0;
    if (x != x)
        return 0x7f;
    double r = float_round(in, (double)half_finish(in, x), fraction, 1 - bias, max);
    uint32_t sign = signbit(r) ? 0x80 : 0;
    r = fabs(r) > max ? max : fabs(r);
    if (r == 0.0)
        return sign;
    int e = ilogb(r);
    if (e < 1 - bias)
        return sign | (uint32_t)ldexp(r, bias - 1 + fraction);
    return sign | (uint32_t)(e + bias) << fraction |
           ((uint32_t)ldexp(r, fraction - e) & ((1u << fraction) - 1));
}

static float fp8_to_f32(int exp, uint32_t b)
{
    if (exp == 5) /* the upper byte of a binary16 */
        return f16_to_f32(b << 8);
    uint32_t rest = b & 0x7f;
    float x = rest == 0x7f ? f32_from(F32_NAN)
              : rest < 8   ? ldexpf((float)rest, -9)
                           : ldexpf((float)(8 + (rest & 7)), (int)(rest >> 3) - 10);
    return b & 0x80 ? -x : x;
}

/* The OFFSET-th set bit of MASK from BASE on, upwards for a positive offset. */
static uint32_t fns_b32(uint32_t mask, uint32_t base, int32_t offset)
{
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int32_t left = offset > 0 ? offset : -(int64_t)offset > 32 ? 33 : -offset;
    for (int32_t i = (int32_t)base; i >= 0 && i < 32; i += offset > 0 ? 1 : -1)
        if (mask >> i & 1 && --left == 0)
            return (uint32_t)i;
    return UINT32_MAX;
}

/* ---- The handlers ---- */

#define EACH_LANE(D, store)                                                                        \
    if ((mask | w->dead) == ALL_LANES) {                                                           \
        LANE_LOOP for (unsigned l = 0; l < LANES; l++)                                             \
        {                                                                                          \
            D value;                                                                               \
            store;                                                                                 \
            pd[l] = value;                                                                         \
        }                                                                                          \
    } else {                                                                                       \
        LANE_LOOP for (unsigned l = 0; l < LANES; l++)                                             \
        {                                                                                          \
            D value;                                                                               \
            store;                                                                                 \
            pd[l] = mask >> l & 1 ? value : pd[l];                                                 \
        }                                                                                          \
    }

#define HANDLER(name) static int alu_##name(struct warp *w, const struct insn *in, uint32_t mask)

#define ALU1_BODY(D, A, result)                                                                    \
    const A *pa = SLOT(A, w, in->a);                                                               \
    D *pd = SLOT(D, w, in->d);                                                                     \
    EACH_LANE(D, A a = pa[l]; value = (D)(result))
#define ALU2_BODY(D, A, B, result)                                                                 \
    const A *pa = SLOT(A, w, in->a);                                                               \
    const B *pb = SLOT(B, w, in->b);                                                               \
    D *pd = SLOT(D, w, in->d);                                                                     \
    EACH_LANE(D, A a = pa[l]; B b = pb[l]; value = (D)(result))
#define ALU3_BODY(D, A, B, C, result)                                                              \
    const A *pa = SLOT(A, w, in->a);                                                               \
    const B *pb = SLOT(B, w, in->b);                                                               \
    const C *pc = SLOT(C, w, in->c);                                                               \
    D *pd = SLOT(D, w, in->d);                                                                     \
    EACH_LANE(D, A a = pa[l]; B b = pb[l]; C c = pc[l]; value = (D)(result))

/* The operands come from memory that a called function might change, so the compiler cannot move the arithmetic across
 * the change of rounding mode. */
#define ROUNDED(body)                                                                              \
    int rounding = host_rounding[in->mode];                                                        \
    if (rounding != FE_TONEAREST)                                                                  \
        fesetround(rounding);                                                                      \
    body;                                                                                          \
    if (rounding != FE_TONEAREST)                                                                  \
        fesetround(FE_TONEAREST);

#define ALU1(name, D, A, result)                                                                   \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        ALU1_BODY(D, A, result)                                                                    \
        return STEP_NEXT;                                                                          \
    }
#define ALU2(name, D, A, B, result)                                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        ALU2_BODY(D, A, B, result)                                                                 \
        return STEP_NEXT;                                                                          \
    }
#define ALU3(name, D, A, B, C, result)                                                             \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        ALU3_BODY(D, A, B, C, result)                                                              \
        return STEP_NEXT;                                                                          \
    }
#define ALUR1(name, D, A, result)                                                                  \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        ROUNDED(ALU1_BODY(D, A, result))                                                           \
        return STEP_NEXT;                                                                          \
    }
#define ALUR2(name, D, A, B, result)                                                               \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        ROUNDED(ALU2_BODY(D, A, B, result))                                                        \
        return STEP_NEXT;                                                                          \
    }
#define ALUR3(name, D, A, B, C, result)                                                            \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        ROUNDED(ALU3_BODY(D, A, B, C, result))                                                     \
        return STEP_NEXT;                                                                          \
    }
#define SETP(name, A, B, condition)                                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const A *pa = SLOT(A, w, in->a);                                                           \
        const B *pb = SLOT(B, w, in->b);                                                           \
        u32 *pd = SLOT(u32, w, in->d);                                                             \
        uint32_t bits = 0;                                                                         \
        for (unsigned l = 0; l < LANES; l++) {                                                     \
            A a = pa[l];                                                                           \
            B b = pb[l];                                                                           \
            (void)b;                                                                               \
            bits |= (uint32_t)(condition) << l;                                                    \
        }                                                                                          \
        *pd = (*pd & ~mask) | (bits & mask);                                                       \
        return STEP_NEXT;                                                                          \
    }
#define PRED(name, result)                                                                         \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        u32 *pd = SLOT(u32, w, in->d);                                                             \
        uint32_t a = *SLOT(u32, w, in->a), b = *SLOT(u32, w, in->b), c = *SLOT(u32, w, in->c);     \
        (void)b, (void)c;                                                                          \
        *pd = (*pd & ~mask) | ((result) & mask);                                                   \
        return STEP_NEXT;                                                                          \
    }
#define SELP(name, D)                                                                              \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const D *pa = SLOT(D, w, in->a), *pb = SLOT(D, w, in->b);                                  \
        uint32_t c = *SLOT(u32, w, in->c);                                                         \
        D *pd = SLOT(D, w, in->d);                                                                 \
        EACH_LANE(D, D a = pa[l]; D b = pb[l]; value = c >> l & 1 ? a : b)                         \
        return STEP_NEXT;                                                                          \
    }

// Strong accesses order what is around them; they also tell a spin loop from a busy one.
#define STRONG(w, in)                                                                              \
    if (in->flags & INSN_STRONG) {                                                                 \
        atomic_thread_fence(memory_order_seq_cst);                                                 \
        w->strong++;                                                                               \
    }

// Do the lanes' addresses follow one another?
static inline bool lanes_contiguous(const uint64_t *at, unsigned bytes)
{
    uint64_t off = 0;
    for (unsigned l = 0; l < LANES; l++)
        off |= at[l] - at[0] - (uint64_t)l * bytes;
    return off == 0;
}

#define LOAD(name, D, M)                                                                           \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        _Alignas(SLOT_ALIGN) uint64_t at[LANES];                                                   \
        D *pd = SLOT(D, w, in->d);                                                                 \
        int step = lanes_address(w, in, mask, sizeof(M), MEM_READ, at);                            \
        if (step)                                                                                  \
            return step;                                                                           \
        STRONG(w, in)                                                                              \
        if (lanes_contiguous(at, sizeof(M))) {                                                     \
            const M *from = mem_pointer(at[0]);                                                    \
            EACH_LANE(D, value = (D)from[l])                                                       \
        } else {                                                                                   \
            EACH_LANE(D, value = (D) * (const M *)mem_pointer(at[l]))                              \
        }                                                                                          \
        STRONG_AFTER(in)                                                                           \
        return STEP_NEXT;                                                                          \
    }
#define STRONG_AFTER(in)                                                                           \
    if (in->flags & INSN_STRONG)                                                                   \
        atomic_thread_fence(memory_order_seq_cst);
#define LOADV(name, D, M)                                                                          \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        _Alignas(SLOT_ALIGN) uint64_t at[LANES];                                                   \
        const uint32_t *slots = w->frame->code->aux + in->aux;                                     \
        int step = lanes_address(w, in, mask, in->b * (uint32_t)sizeof(M), MEM_READ, at);          \
        if (step)                                                                                  \
            return step;                                                                           \
        STRONG(w, in)                                                                              \
        for (uint32_t e = 0; e < in->b; e++) {                                                     \
            D *pd = SLOT(D, w, slots[e]);                                                          \
            EACH_LANE(D, value = (D)((const M *)mem_pointer(at[l]))[e])                            \
        }                                                                                          \
        STRONG_AFTER(in)                                                                           \
        return STEP_NEXT;                                                                          \
    }
#define STORE(name, D, M)                                                                          \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        _Alignas(SLOT_ALIGN) uint64_t at[LANES];                                                   \
        const D *pb = SLOT(D, w, in->b);                                                           \
        int step = lanes_address(w, in, mask, sizeof(M), MEM_WRITE, at);                           \
        if (step)                                                                                  \
            return step;                                                                           \
        STRONG(w, in)                                                                              \
        if (mask == ALL_LANES && lanes_contiguous(at, sizeof(M))) {                                \
            M *to = mem_pointer(at[0]);                                                            \
            LANE_LOOP for (unsigned l = 0; l < LANES; l++) to[l] = (M)pb[l];                       \
        } else {                                                                                   \
            for (uint32_t rest = mask; rest; rest &= rest - 1) {                                   \
                unsigned l = (unsigned)__builtin_ctz(rest);                                        \
                *(M *)mem_pointer(at[l]) = (M)pb[l];                                               \
            }                                                                                      \
        }                                                                                          \
        STRONG_AFTER(in)                                                                           \
        return STEP_NEXT;                                                                          \
    }
#define STOREV(name, D, M)                                                                         \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        _Alignas(SLOT_ALIGN) uint64_t at[LANES];                                                   \
        const uint32_t *slots = w->frame->code->aux + in->aux;                                     \
        int step = lanes_address(w, in, mask, in->b * (uint32_t)sizeof(M), MEM_WRITE, at);         \
        if (step)                                                                                  \
            return step;                                                                           \
        STRONG(w, in)                                                                              \
        for (uint32_t e = 0; e < in->b; e++) {                                                     \
            const D *pb = SLOT(D, w, slots[e]);                                                    \
            for (uint32_t rest = mask; rest; rest &= rest - 1) {                                   \
                unsigned l = (unsigned)__builtin_ctz(rest);                                        \
                ((M *)mem_pointer(at[l]))[e] = (M)pb[l];                                           \
            }                                                                                      \
        }                                                                                          \
        STRONG_AFTER(in)                                                                           \
        return STEP_NEXT;                                                                          \
    }

#include "softcuda/interp_alu.def"

#undef LOAD
#undef LOADV
#undef STORE
#undef STOREV
#undef ALU1
#undef ALU2
#undef ALU3
#undef ALUR1
#undef ALUR2
#undef ALUR3
#undef SETP
#undef PRED
#undef SELP

extern insn_fn *const ALU_TABLE[ALU_COUNT];
insn_fn *const ALU_TABLE[ALU_COUNT] = {
#define ALU_NAME(name) [ALU_##name] = alu_##name,
#include "softcuda/interp_alu_names.h"
};
