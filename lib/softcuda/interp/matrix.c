// Matrix instructions: mma, wmma, ldmatrix, stmatrix. A fragment is a matrix spread over the
// registers of all lanes; the layouts of mma and ldmatrix are the ISA's, those of wmma, which the
// ISA leaves open, are row by row.
//
// Products are summed in double, which is exact for integers and for all narrow floats within a
// tile, and rounded once to the result's type; tensor cores round and align in steps of their own,
// so the last bit of an f32 result may differ.
#include "softcuda/interp/matrix.h"
#include "softcuda/interp/address.h"
#include "softcuda/interp/fragment.h"

enum {
    MAX_ROWS = 32,
    MAX_COLUMNS = 32,
    MAX_DEPTH = 256,
    MAX_FACTOR = 16 * 256,
    MAX_SPARSE_COLUMNS = 8
};

// ---- Layouts: which element of a lane is at a row and column

static void position_b(const struct fragment *f, unsigned lane, unsigned i, unsigned *r,
                       unsigned *c)
{
    unsigned per = f->bits == 64 ? 1 : 32 / f->bits;
    *c = lane / 4;
    *r = lane % 4 * per + i % per + i / per * 4 * per;
}

// The layout of wmma has rows behind one another, a run of elements per lane.
static void position_run(const struct fragment *f, unsigned lane, unsigned i, unsigned *r,
                         unsigned *c)
{
    unsigned index = lane * (f->rows * f->columns / LANES) + i;
    *r = index / f->columns;
    *c = index % f->columns;
}

// In products of eight lanes (two quads, 16 lanes apart) a lane has a row of a, or a column where a
// is stored by columns; of b it has a column, or a row.
static void position_quad_row(const struct fragment *f, unsigned lane, unsigned i, unsigned *r,
                              unsigned *c)
{
    (void)f;
    *r = lane % 4 + (lane < 16 ? 0 : 4);
    *c = i;
}

static void position_quad_column(const struct fragment *f, unsigned lane, unsigned i, unsigned *r,
                                 unsigned *c)
{
    position_quad_row(f, lane, i, c, r);
}

// The factor's short side is spread over a quad, its long side over the lane's elements and both
// quads.
static void position_quad_a_column(const struct fragment *f, unsigned lane, unsigned i, unsigned *r,
                                   unsigned *c)
{
    (void)f;
    *r = i % 4 + (lane < 16 ? 0 : 4);
    *c = lane % 4;
}

static void position_quad_b_row(const struct fragment *f, unsigned lane, unsigned i, unsigned *r,
                                unsigned *c)
{
    position_quad_a_column(f, lane, i, c, r);
}

static void place_quad_f32(const struct fragment *f, unsigned lane, unsigned i, unsigned *r,
                           unsigned *c)
{
    (void)f;
    *r = (lane & 1) + (i & 2) + (lane < 16 ? 0 : 4);
    *c = (i & 4) + (lane & 2) + (i & 1);
}

// ---- Products

// A product of bits is the count of those set in a^b or a&b.
static void multiply_bits(const double *a, const double *b, double *acc, unsigned m, unsigned n,
                          unsigned k, bool is_and)
{
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++)
            for (unsigned d = 0; d < k; d++) {
                bool x = a[i * k + d] != 0, y = b[d * n + j] != 0;
                acc[i * n + j] += is_and ? x && y : x != y;
            }
}

// f64 is fused, step by step.
static void multiply_f64(const double *a, const double *b, double *acc, unsigned m, unsigned n,
                         unsigned k)
{
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++)
            for (unsigned d = 0; d < k; d++)
                acc[i * n + j] = f64_fma(a[i * k + d], b[d * n + j], acc[i * n + j]);
}

// ---- A sparse left factor: lanes hold half of it, and metadata what half that is

// The four bits that say which half of chunk C of row R is kept. A lane has 16 bits of each of two
// rows; or 32 of one row where elements have eight bits or fewer.
static unsigned chunk_metadata(const struct lanes *v, const uint32_t *aux, uint32_t at, unsigned r,
                               unsigned c)
{
    bool two_rows = ptx_type_bits((enum ptx_type)aux[MATRIX_TYPE_A]) >= 16;
    unsigned lane = r % 8 * 4 + aux[MATRIX_HOLDER] + (two_rows ? c / 4 : r / 8 + c / 8 * 2);
    unsigned shift = two_rows ? r / 8 * 16 + c % 4 * 4 : c % 8 * 4;
    return PART_SLOT(u32, v->of[lane], v->aux[lane][at + 1])[lane] >> shift & 15;
}

// The column of a whose element is the E-th that is kept of row R. Two bits of metadata name a
// quarter of the chunk; but where that is half an element, the first two name the element.
static unsigned kept_column(const struct lanes *v, const uint32_t *aux, uint32_t at, unsigned r,
                            unsigned e)
{
    unsigned chunk = aux[MATRIX_CHUNK], c = e / (chunk / 2), i = e % (chunk / 2);
    unsigned quarter = chunk_metadata(v, aux, at, r, c) >> i * 4 / chunk * 2 & 3;
    return c * chunk + quarter * chunk / 4 + (chunk == 8 ? i % 2 : 0);
}

// Multiplies row by row, each with the rows of b that its elements multiply. The other rows of b do
// not count, even where they hold a NaN.
static void multiply_sparse(const struct lanes *v, const uint32_t *aux, uint32_t at,
                            const double *a, const double *b, double *acc)
{
    double chosen[MAX_DEPTH / 2 * MAX_SPARSE_COLUMNS];
    unsigned n = aux[MATRIX_N], kept = aux[MATRIX_K] / 2;
    for (unsigned r = 0; r < aux[MATRIX_M]; r++) {
        for (unsigned e = 0; e < kept; e++)
            memcpy(&chosen[e * n], &b[kept_column(v, aux, at, r, e) * n], n * sizeof *b);
        product_add(a + r * kept, chosen, acc + r * n, 1, n, kept);
    }
}

// These say where the elements of each matrix are.
struct positions {
    position_fn *a, *b, *c, *d;
};

static struct positions quad_positions(const uint32_t *aux)
{
    uint32_t flags = aux[MATRIX_FLAGS];
    return (struct positions){
        .a = flags & MATRIX_BY_COLUMN ? position_quad_a_column : position_quad_row,
        .b = flags & MATRIX_B_BY_COLUMN ? position_quad_column : position_quad_b_row,
        .c = aux[MATRIX_TYPE_C] == PTX_T_F32 ? place_quad_f32 : position_quad_row,
        .d = aux[MATRIX_TYPE_D] == PTX_T_F32 ? place_quad_f32 : position_quad_row,
    };
}

// Computes the product that the lanes in HELD share.
static void product_of(const struct group *g, const struct lanes *v, const struct positions *by,
                       uint32_t held)
{
    double a[MAX_FACTOR], b[MAX_FACTOR], acc[MAX_ROWS * MAX_COLUMNS];
    const uint32_t *aux = v->aux[0];
    unsigned m = aux[MATRIX_M], n = aux[MATRIX_N], k = aux[MATRIX_K];
    uint32_t at = MATRIX_LISTS, list_at[4];
    for (unsigned i = 0; i < 4; i++) {
        list_at[i] = at;
        at += aux[at] + 1;
    }
    struct fragment fd = fragment_of((enum ptx_type)aux[MATRIX_TYPE_D], m, n, list_at[0]);
    struct fragment fa = fragment_of((enum ptx_type)aux[MATRIX_TYPE_A], m,
                                     aux[MATRIX_CHUNK] ? k / 2 : k, list_at[1]);
    struct fragment fb = fragment_of((enum ptx_type)aux[MATRIX_TYPE_B], k, n, list_at[2]);
    struct fragment fc = fragment_of((enum ptx_type)aux[MATRIX_TYPE_C], m, n, list_at[3]);
    fa.held = fb.held = fc.held = fd.held = held;
    fragment_read(v, &fa, by->a, a);
    fragment_read(v, &fb, by->b, b);
    fragment_read(v, &fc, by->c, acc);
    if (fa.type == PTX_T_B1)
        multiply_bits(a, b, acc, m, n, k, aux[MATRIX_FLAGS] & MATRIX_AND);
    else if (fa.type == PTX_T_F64)
        multiply_f64(a, b, acc, m, n, k);
    else if (aux[MATRIX_CHUNK])
        multiply_sparse(v, aux, at, a, b, acc);
    else
        product_add(a, b, acc, m, n, k);
    fragment_write(g, v, &fd, by->d, acc, aux[MATRIX_FLAGS] & MATRIX_SATFINITE);
}

static int do_mma(const struct group *g)
{
    static const struct positions whole = {position_a, position_b, position_c, position_c};
    struct lanes v;
    lanes_find(g, &v);
    if (!(v.aux[0][MATRIX_FLAGS] & MATRIX_QUADS)) {
        product_of(g, &v, &whole, ALL_LANES);
        return STEP_NEXT;
    }
    struct positions by = quad_positions(v.aux[0]);
    for (unsigned quad = 0; quad < 4; quad++)
        product_of(g, &v, &by, 0xf000fu << 4 * quad);
    return STEP_NEXT;
}

static int do_wmma(const struct group *g)
{
    static const struct positions runs = {position_run, position_run, position_run, position_run};
    struct lanes v;
    lanes_find(g, &v);
    product_of(g, &v, &runs, ALL_LANES);
    return STEP_NEXT;
}

// ---- wmma.load, wmma.store: an element at a time, from a base and a stride that all lanes share

// A generic address, BEHIND bytes behind the lane's own. What leads out of a window stays outside
// of all others.
static uint64_t address_of(const struct part *p, unsigned lane, uint64_t behind)
{
    const struct insn *in = p->in;
    uint64_t window = space_window(in->mode);
    uint64_t a =
        space_is_narrow(in->mode) ? PART_SLOT(u32, p, in->a)[lane] : PART_SLOT(u64, p, in->a)[lane];
    a += in->imm2 + behind;
    return window + (window && a >> 32 ? 0xfffffff0u : a);
}

static int move_fragment(const struct group *g, bool load)
{
    struct lanes v;
    lanes_find(g, &v);
    unsigned first = (unsigned)__builtin_ctz(g->lanes);
    const uint32_t *aux = v.aux[first];
    struct fragment f =
        fragment_of((enum ptx_type)aux[MATRIX_TYPE_D], aux[MATRIX_M], aux[MATRIX_N], MATRIX_LISTS);
    bool columns = aux[MATRIX_FLAGS] & MATRIX_BY_COLUMN;
    uint64_t stride = columns ? f.rows : f.columns;
    if (v.of[first]->in->c != NO_OPERAND)
        stride = PART_SLOT(u32, v.of[first], v.of[first]->in->c)[first];
    for (unsigned l = 0; l < LANES; l++) {
        if (!(g->lanes >> l & 1))
            continue;
        for (unsigned i = 0; i < f.rows * f.columns / LANES; i++) {
            unsigned r, c;
            position_run(&f, l, i, &r, &c);
            uint64_t bit = (columns ? c * stride + r : r * stride + c) * f.bits;
            uint64_t address = address_of(v.of[first], first, bit / 8);
            uint64_t bytes = f.bits < 8 ? 1 : f.bits / 8, value = 0;
            if (address % bytes)
                return warp_fault(g->w, v.of[l]->in, 1u << l, EXEC_FAULT_MISALIGNED, address);
            uint64_t host = lane_generic(g->w, l, address, bytes, load ? MEM_READ : MEM_WRITE);
            if (!host)
                return warp_fault(g->w, v.of[l]->in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS, address);
            if (load) {
                memcpy(&value, mem_pointer(host), bytes);
                fragment_put(&v, &f, l, i, value >> bit % 8);
            } else {
                value = fragment_get(&v, &f, l, i);
                memcpy(mem_pointer(host), &value, bytes);
            }
        }
    }
    return STEP_NEXT;
}

static int do_wmma_load(const struct group *g)
{
    return move_fragment(g, true);
}

static int do_wmma_store(const struct group *g)
{
    return move_fragment(g, false);
}

// ---- ldmatrix, stmatrix: 8x8 matrices of 16-bit elements; lane 8m + r gives the address of row r
// of matrix m

static int move_matrices(const struct group *g, bool load)
{
    struct lanes v;
    lanes_find(g, &v);
    const uint32_t *aux = v.aux[(unsigned)__builtin_ctz(g->lanes)];
    bool transposed = aux[MATRIX_FLAGS] & MATRIX_BY_COLUMN;
    for (unsigned m = 0; m < aux[MATRIX_LISTS]; m++) {
        uint16_t *row[8];
        for (unsigned r = 0; r < 8; r++) {
            unsigned l = 8 * m + r;
            uint64_t address = address_of(v.of[l], l, 0), host;
            if (address % 16)
                return warp_fault(g->w, v.of[l]->in, 1u << l, EXEC_FAULT_MISALIGNED, address);
            host = lane_generic(g->w, l, address, 16, load ? MEM_READ : MEM_WRITE);
            if (!host)
                return warp_fault(g->w, v.of[l]->in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS, address);
            row[r] = mem_pointer(host);
        }
        for (unsigned l = 0; l < LANES; l++) {
            unsigned r = l / 4, c = l % 4 * 2;
            u16 *low = transposed ? &row[c][r] : &row[r][c];
            u16 *high = transposed ? &row[c + 1][r] : &row[r][c + 1];
            u32 *reg = &PART_SLOT(u32, v.of[l], v.aux[l][MATRIX_LISTS + 1 + m])[l];
            if (!(g->lanes >> l & 1))
                continue;
            if (load) {
                *reg = *low | (uint32_t)*high << 16;
            } else {
                *low = (uint16_t)*reg;
                *high = (uint16_t)(*reg >> 16);
            }
        }
    }
    return STEP_NEXT;
}

static int do_ldmatrix(const struct group *g)
{
    return move_matrices(g, true);
}

static int do_stmatrix(const struct group *g)
{
    return move_matrices(g, false);
}

// ---- The handlers

group_fn *matrix_function(const struct insn *in)
{
    return in->run == op_mma          ? do_mma
           : in->run == op_wmma       ? do_wmma
           : in->run == op_wmma_load  ? do_wmma_load
           : in->run == op_wmma_store ? do_wmma_store
           : in->run == op_ldmatrix   ? do_ldmatrix
           : in->run == op_stmatrix   ? do_stmatrix
                                      : wgmma_function(in);
}

int op_mma(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_wmma(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_wmma_load(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_wmma_store(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_ldmatrix(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_stmatrix(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}
