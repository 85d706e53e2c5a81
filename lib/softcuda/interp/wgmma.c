// wgmma: a warpgroup (four warps, the first of which has a number divisible by four) multiplies a
// matrix of 64 rows by one in shared memory. Each warp computes its own 16 rows completely when it
// reaches the instruction. The operands are fixed then, since a program may change neither their
// memory nor the registers before wgmma.wait_group.
//
// The warps synchronise in two places, which is undocumented, but CUTLASS needs it. In wgmma.fence,
// so that each reads what the others wrote before; its backward pass of attention has no other
// barrier there. And in wgmma.wait_group, where a warp continues once all four have committed the
// groups for which it waits: one thread may free memory for all, though another warp has yet to
// read it.
#include "softcuda/interp/address.h"
#include "softcuda/interp/fragment.h"
#include "softcuda/interp/matrix.h"

enum {
    WARPGROUP = 4,
    ROWS = 16, // of a warp
    MAX_COLUMNS = 256,
    MAX_DEPTH = 32, // of bits in words
    CHUNK = 16,     // what of a matrix always lies together
    LINES = 8,      // of chunks, that follow each other at a fixed distance
    PRODUCTS_PER_STEP = 64
};

// ---- A factor in shared memory

// These are the fields of a descriptor.
struct descriptor {
    uint64_t start;
    uint32_t leading, stride; // bytes
    uint32_t base;            // where in a pattern of swizzles the matrix begins, in 128 bytes
    uint32_t bits;            // of an address, that swizzles change
};

static uint32_t field(uint64_t descriptor, unsigned at)
{
    return (uint32_t)(descriptor >> at & 0x3fff) * CHUNK;
}

static struct descriptor unpack(uint64_t d)
{
    return (struct descriptor){.start = field(d, 0),
                               .leading = field(d, 16),
                               .stride = field(d, 32),
                               .base = d >> 49 & 7,
                               .bits = (4 - (uint32_t)(d >> 62)) & 3};
}

// Returns the address of a chunk. Where the factor is stored along its depth, a line is one of its
// rows (or columns, of the right factor), and else one step of the depth.
static uint64_t chunk_address(const struct descriptor *d, bool along_depth, unsigned line,
                              unsigned chunk)
{
    const uint32_t across = 1u << d->bits; // chunks in a line of the pattern
    uint64_t at = d->start + (uint64_t)(line % LINES) * across * CHUNK;

    if (along_depth)
        at += (uint64_t)(line / LINES) * d->stride + chunk * (d->bits ? CHUNK : d->leading);
    else
        at += (uint64_t)(line / LINES) * (d->bits ? d->stride : d->leading) +
              (uint64_t)(chunk / across) * (d->bits ? d->leading : d->stride) +
              chunk % across * CHUNK;
    return at ^ (((at >> 7) - d->base) & (across - 1)) * CHUNK;
}

// A factor: element (i, k) is put at i * across + k * along.
struct factor {
    enum ptx_type type;
    unsigned first, count; // of its rows or columns
    unsigned depth, across, along;
    bool along_depth;
};

static bool read_factor(const struct group *g, const struct factor *f, uint64_t descriptor,
                        double *out)
{
    const struct descriptor d = unpack(descriptor);
    const unsigned bytes = ptx_type_bits(f->type) / 8, each = CHUNK / bytes;
    const unsigned lines = f->along_depth ? f->count : f->depth;
    const unsigned chunks = (f->along_depth ? f->depth : f->count) / each;
    const unsigned first_line = f->along_depth ? f->first : 0;
    const unsigned first_chunk = f->along_depth ? 0 : f->first / each;
    const unsigned lane = (unsigned)__builtin_ctz(g->lanes);

    for (unsigned i = 0; i < lines * chunks; i++) {
        const unsigned line = i / chunks, chunk = i % chunks;
        const uint64_t address =
            MEM_SHARED_WINDOW +
            chunk_address(&d, f->along_depth, first_line + line, first_chunk + chunk);
        const uint8_t *from = mem_pointer(lane_generic(g->w, lane, address, CHUNK, MEM_READ));
        double *to = out + (f->along_depth ? line * f->across + chunk * each * f->along
                                           : line * f->along + chunk * each * f->across);

        if (!from) {
            warp_fault(g->w, g->part[0].in, 1u << lane, EXEC_FAULT_ILLEGAL_ADDRESS, address);
            return false;
        }
        for (unsigned e = 0; e < each; e++) {
            uint32_t value = 0;
            memcpy(&value, from + e * bytes, bytes);
            to[e * (f->along_depth ? f->along : f->across)] = element_decode(f->type, value);
        }
    }
    return true;
}

// ---- The product

// A product of words of bits is the count of those set in both.
static void count_bits(const double *a, const double *b, double *acc, unsigned n, unsigned k)
{
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned d = 0; d < k; d++)
            for (unsigned j = 0; j < n; j++)
                acc[i * n + j] +=
                    __builtin_popcount((uint32_t)a[i * k + d] & (uint32_t)b[d * n + j]);
}

static int do_wgmma(const struct group *g)
{
    double a[ROWS * MAX_DEPTH], b[MAX_DEPTH * MAX_COLUMNS], acc[ROWS * MAX_COLUMNS];
    const struct part *p = &g->part[0];
    const unsigned lane = (unsigned)__builtin_ctz(g->lanes);
    struct lanes v;

    lanes_find(g, &v);
    const uint32_t *aux = v.aux[lane], flags = aux[MATRIX_FLAGS];
    const bool bits = aux[MATRIX_TYPE_A] == PTX_T_B1;
    const unsigned n = aux[MATRIX_N], k = bits ? aux[MATRIX_K] / 32 : aux[MATRIX_K];
    const enum ptx_type type_a = bits ? PTX_T_B32 : (enum ptx_type)aux[MATRIX_TYPE_A];
    const enum ptx_type type_b = bits ? PTX_T_B32 : (enum ptx_type)aux[MATRIX_TYPE_B];
    const struct fragment d = fragment_of((enum ptx_type)aux[MATRIX_TYPE_D], ROWS, n, MATRIX_LISTS);
    const struct fragment in_registers =
        fragment_of(type_a, ROWS, k, MATRIX_LISTS + 1 + aux[MATRIX_LISTS]);
    const struct factor left = {.type = type_a,
                                .first = g->w->index % WARPGROUP * ROWS,
                                .count = ROWS,
                                .depth = k,
                                .across = k,
                                .along = 1,
                                .along_depth = !(flags & MATRIX_BY_COLUMN)};
    const struct factor right = {.type = type_b,
                                 .count = n,
                                 .depth = k,
                                 .across = 1,
                                 .along = n,
                                 .along_depth = flags & MATRIX_B_BY_COLUMN};

    if (p->in->c == NO_OPERAND)
        fragment_read(&v, &in_registers, position_a, a);
    else if (!read_factor(g, &left, PART_SLOT(u64, p, p->in->c)[lane], a))
        return STEP_FAULT;
    if (!read_factor(g, &right, PART_SLOT(u64, p, p->in->b)[lane], b))
        return STEP_FAULT;
    for (unsigned i = 0; flags & MATRIX_NEGATE && i < ROWS * k; i++)
        a[i] = -a[i];
    if (*PART_SLOT(u32, p, p->in->a) >> lane & 1)
        fragment_read(&v, &d, position_c, acc);
    else
        memset(acc, 0, ROWS * n * sizeof *acc);
    if (bits)
        count_bits(a, b, acc, n, k);
    else
        product_add(a, b, acc, ROWS, n, k);
    fragment_write(g, &v, &d, position_c, acc, flags & MATRIX_SATFINITE);
    const uint64_t steps = ROWS * n * k / PRODUCTS_PER_STEP;
    g->w->left -= steps < g->w->left ? steps : g->w->left;
    return STEP_NEXT;
}

int op_wgmma(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

// ---- Meeting

// Whether the other warps have reached this warp's count, less LAGS.
static bool others_came(const struct warp *w, enum wgmma_count count, uint64_t lags)
{
    const uint32_t first = w->index / WARPGROUP * WARPGROUP;

    for (uint32_t i = first; i < first + WARPGROUP && i < w->block->nwarps; i++) {
        const struct warp *other = &w->block->warps[i];
        if (other->dead != ALL_LANES && other->wgmma[count] + lags < w->wgmma[count])
            return false;
    }
    return true;
}

void block_recheck_wgmma(struct exec_block *b)
{
    if (!b->wgmma_waits)
        return;
    b->wgmma_waits = false;
    for (uint32_t i = 0; i < b->nwarps; i++)
        for (uint32_t k = 0; k < b->warps[i].npaths; k++) {
            struct path *p = &b->warps[i].paths[k];
            if (p->state != PATH_WGMMA)
                continue;
            if (others_came(&b->warps[i], p->at->mode, p->at->imm))
                p->state = PATH_READY;
            else
                b->wgmma_waits = true;
        }
}

static int do_arrive(const struct group *g)
{
    g->w->wgmma[g->part[0].in->mode]++;
    block_recheck_wgmma(g->w->block);
    return STEP_NEXT;
}

int op_wgmma_arrive(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_wgmma_wait(struct warp *w, const struct insn *in, uint32_t mask)
{
    (void)mask;
    if (others_came(w, in->mode, in->imm))
        return STEP_NEXT;
    w->block->wgmma_waits = true;
    warp_block_path(w, in, PATH_WGMMA);
    return STEP_SWITCH;
}

group_fn *wgmma_function(const struct insn *in)
{
    return in->run == op_wgmma ? do_wgmma : in->run == op_wgmma_arrive ? do_arrive : NULL;
}
