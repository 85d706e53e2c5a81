// Elements between registers and numbers, the layouts of mma's fragments, and sums of products: see
// fragment.h.
#include "softcuda/interp/fragment.h"
#include "softcuda/device/num.h"

void lanes_find(const struct group *g, struct lanes *v)
{
    for (unsigned l = 0; l < LANES; l++) {
        // Lanes that exited have no part: they use the first one.
        const struct part *p = &g->part[0];
        for (uint32_t i = 0; i < g->n; i++)
            if (g->part[i].mask >> l & 1)
                p = &g->part[i];
        v->of[l] = p;
        v->aux[l] = p->frame->code->aux + p->in->aux;
    }
}

struct fragment fragment_of(enum ptx_type t, unsigned rows, unsigned columns, uint32_t at)
{
    return (struct fragment){.type = t,
                             .bits = ptx_type_bits(t),
                             .rows = rows,
                             .columns = columns,
                             .at = at,
                             .held = ALL_LANES};
}

uint64_t fragment_get(const struct lanes *v, const struct fragment *f, unsigned lane, unsigned i)
{
    const uint32_t *slots = v->aux[lane] + f->at + 1;
    if (f->bits == 64)
        return PART_SLOT(u64, v->of[lane], slots[i])[lane];
    unsigned per = 32 / f->bits;
    uint32_t word = PART_SLOT(u32, v->of[lane], slots[i / per])[lane];
    return f->bits == 32 ? word : word >> i % per * f->bits & ((1u << f->bits) - 1);
}

void fragment_put(const struct lanes *v, const struct fragment *f, unsigned lane, unsigned i,
                  uint64_t value)
{
    const uint32_t *slots = v->aux[lane] + f->at + 1;
    if (f->bits == 64) {
        PART_SLOT(u64, v->of[lane], slots[i])[lane] = value;
        return;
    }
    unsigned per = 32 / f->bits, shift = i % per * f->bits;
    u32 *word = &PART_SLOT(u32, v->of[lane], slots[i / per])[lane];
    uint32_t kept = f->bits == 32 ? UINT32_MAX : ((1u << f->bits) - 1) << shift;
    *word = (*word & ~kept) | ((uint32_t)value << shift & kept);
}

double element_decode(enum ptx_type t, uint64_t bits)
{
    switch (t) {
    case PTX_T_F16:
        return (double)f16_to_f32((uint32_t)bits);
    case PTX_T_BF16:
        return (double)bf16_to_f32((uint32_t)bits);
    case PTX_T_E4M3:
        return (double)fp8_to_f32(4, (uint32_t)bits);
    case PTX_T_E5M2:
        return (double)fp8_to_f32(5, (uint32_t)bits);
    case PTX_T_TF32: // the low bits do not count
        return (double)f32_from((uint32_t)bits & 0xffffe000u);
    case PTX_T_F32:
        return (double)f32_from((uint32_t)bits);
    case PTX_T_F64:
        return f64_from(bits);
    case PTX_T_S32:
        return (double)(int32_t)bits;
    case PTX_T_S8:
        return (double)(int8_t)bits;
    case PTX_T_S4:
        return (double)((int32_t)((uint32_t)bits << 28) >> 28);
    default:
        return (double)bits;
    }
}

static uint64_t encode(enum ptx_type t, double x, bool satfinite)
{
    switch (t) {
    case PTX_T_F16:
        return f16_from_f32(f64_to_odd_f32(x));
    case PTX_T_F32:
        return f32_out((float)x);
    case PTX_T_F64:
        return f64_bits(x);
    default: // s32: wraps, or is clamped
        if (satfinite)
            return (uint32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x);
        return (uint32_t)(int64_t)x;
    }
}

void position_a(const struct fragment *f, unsigned lane, unsigned i, unsigned *r, unsigned *c)
{
    unsigned per = f->bits == 64 ? 1 : 32 / f->bits, reg = i / per;
    bool tall = f->rows == 16;
    *r = lane / 4 + (tall ? 8 * (reg & 1) : 0);
    *c = lane % 4 * per + i % per + (tall ? reg / 2 : reg) * 4 * per;
}

void position_c(const struct fragment *f, unsigned lane, unsigned i, unsigned *r, unsigned *c)
{
    (void)f;
    *r = lane / 4 + 8 * (i / 2 % 2);
    *c = i / 4 * 8 + lane % 4 * 2 + i % 2;
}

static unsigned elements_held(const struct fragment *f)
{
    return f->rows * f->columns / (unsigned)__builtin_popcount(f->held);
}

void fragment_read(const struct lanes *v, const struct fragment *f, position_fn *position,
                   double *out)
{
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; f->held >> l & 1 && i < elements_held(f); i++) {
            unsigned r, c;
            position(f, l, i, &r, &c);
            out[r * f->columns + c] = element_decode(f->type, fragment_get(v, f, l, i));
        }
}

void fragment_write(const struct group *g, const struct lanes *v, const struct fragment *f,
                    position_fn *position, const double *from, bool satfinite)
{
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; g->lanes & f->held & 1u << l && i < elements_held(f); i++) {
            unsigned r, c;
            position(f, l, i, &r, &c);
            fragment_put(v, f, l, i, encode(f->type, from[r * f->columns + c], satfinite));
        }
}

void product_add(const double *a, const double *b, double *acc, unsigned m, unsigned n, unsigned k)
{
    for (unsigned i = 0; i < m; i++)
        for (unsigned d = 0; d < k; d++) {
            double x = a[i * k + d];
            for (unsigned j = 0; j < n; j++)
                acc[i * n + j] += x * b[d * n + j];
        }
}
