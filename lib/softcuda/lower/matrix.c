// Matrix instructions: ldmatrix, stmatrix, movmatrix, mma, wmma, wgmma. The number of registers of
// fragments is checked again, though the reader has done so, because the interpreter depends on it.
#include <errno.h>

#include "softcuda/interp/matrix.h"
#include "softcuda/lower/lower.h"

enum { MAX_WORDS = MATRIX_LISTS + 5 * (PTX_MAX_VECTOR + 1) };

struct words {
    uint32_t at[MAX_WORDS];
    uint32_t n;
};

static const struct ptx_operand *op(const struct lower *L, unsigned i)
{
    return &L->inst->ops[i];
}

// Adds the registers of one fragment; NEED of them of 32 bits, or of 64 for f64.
static void add_list(struct lower *L, struct words *w, const struct ptx_operand *o, bool result,
                     enum ptx_type t, unsigned need)
{
    const struct ptx_operand *list = o->kind == PTX_OPND_VEC ? o->list : o;
    uint32_t n = o->kind == PTX_OPND_VEC ? o->count : 1;
    unsigned bits = t == PTX_T_F64 ? 64 : 32;
    if (n < need || n > PTX_MAX_VECTOR) {
        lower_fail(L, -EINVAL, "a fragment of %u registers was expected", need);
        return;
    }
    w->at[w->n++] = n;
    for (uint32_t i = 0; i < n && !L->error; i++)
        w->at[w->n++] = result ? lower_dst(L, &list[i], bits) : lower_src(L, &list[i], bits);
}

static unsigned regs_for(enum ptx_type t, unsigned elements)
{
    unsigned bits = ptx_type_bits(t), each = elements / LANES;
    return bits == 64 ? each : (each * bits + 31) / 32;
}

static bool is_element(enum ptx_type t)
{
    switch (t) {
    case PTX_T_F16:
    case PTX_T_BF16:
    case PTX_T_E4M3:
    case PTX_T_E5M2:
    case PTX_T_TF32:
    case PTX_T_F32:
    case PTX_T_F64:
    case PTX_T_S8:
    case PTX_T_U8:
    case PTX_T_S4:
    case PTX_T_U4:
    case PTX_T_B1:
    case PTX_T_S32:
        return true;
    default:
        return false;
    }
}

static void finish(struct lower *L, insn_fn *run, const struct words *w)
{
    uint32_t members = lower_const32(L, ALL_LANES), aux = lower_aux(L, w->at, w->n);
    struct insn *in = lower_emit(L, run);
    in->imm = members;
    in->aux = aux;
}

// The metadata of each row are in one of four lanes, or in several.
static bool is_sparse_shape(const struct lower *L, unsigned m, unsigned n, unsigned k)
{
    unsigned lanes = ptx_sparse_lanes(L->inst);
    return m == 16 && n == 8 && k <= 128 && lanes && op(L, 5)->imm < 4 / lanes;
}

static void lower_product(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool short_form = !i->type[2]; // wmma.mma of f16 names d and c only
    enum ptx_type t[4];
    for (unsigned k = 0; k < 4; k++)
        t[k] = (enum ptx_type)i->type[k];
    if (short_form) {
        t[3] = t[1];
        t[1] = t[2] = PTX_T_F16;
    }
    unsigned m, n, k;
    ptx_shape_size((enum ptx_shape)i->shape, &m, &n, &k);
    unsigned chunk = ptx_sparse_chunk(i);
    bool quads = i->op == PTX_OP_MMA && i->shape == PTX_SHAPE_M8N8K4 && t[1] == PTX_T_F16;
    bool elements = is_element(t[0]) && is_element(t[1]) && is_element(t[2]) && is_element(t[3]);
    bool layouts = i->op == PTX_OP_WMMA_MMA || quads ||
                   (i->layout[0] != PTX_LAYOUT_COL && i->layout[1] != PTX_LAYOUT_ROW);
    if (!elements || !k || !layouts || m * n > 1024 || m * k > 4096 || k * n > 4096 ||
        (chunk && !is_sparse_shape(L, m, n, k))) {
        lower_fail(L, -ENOTSUP, "a product of this shape and these types");
        return;
    }
    bool is_and = i->mode == PTX_MODE_MMA_AND || i->mode2 == PTX_MODE_MMA_AND;
    struct words w = {{t[0], t[1], t[2], t[3], m, n, k,
                       (i->flags & PTX_F_SATFINITE ? MATRIX_SATFINITE : 0) |
                           (is_and ? MATRIX_AND : 0) | (quads ? MATRIX_QUADS : 0) |
                           (quads && i->layout[0] == PTX_LAYOUT_COL ? MATRIX_BY_COLUMN : 0) |
                           (quads && i->layout[1] == PTX_LAYOUT_COL ? MATRIX_B_BY_COLUMN : 0),
                       chunk, chunk ? (uint32_t)op(L, 5)->imm * ptx_sparse_lanes(i) : 0},
                      MATRIX_LISTS};
    unsigned times = quads ? 4 : 1; // that many products
    add_list(L, &w, op(L, 0), true, t[0], regs_for(t[0], times * m * n));
    add_list(L, &w, op(L, 1), false, t[1], regs_for(t[1], times * m * (chunk ? k / 2 : k)));
    add_list(L, &w, op(L, 2), false, t[2], regs_for(t[2], times * k * n));
    add_list(L, &w, op(L, 3), false, t[3], regs_for(t[3], times * m * n));
    if (chunk)
        add_list(L, &w, op(L, 4), false, PTX_T_B32, 1);
    finish(L, i->op == PTX_OP_MMA ? op_mma : op_wmma, &w);
}

// Two negations cancel. Matrices in shared memory are stored along their depth (rows of a, columns
// of b) unless a constant says otherwise.
static void lower_wgmma(struct lower *L)
{
    enum { ROWS = 16 }; // of a warp
    const struct ptx_inst *i = L->inst;
    const enum ptx_type d = (enum ptx_type)i->type[0], a = (enum ptx_type)i->type[1];
    const bool negate = op(L, 4)->kind == PTX_OPND_IMM && op(L, 4)->imm != op(L, 5)->imm;
    const bool a_by_column = op(L, 6)->kind == PTX_OPND_IMM && op(L, 6)->imm;
    const bool b_by_row = op(L, 7)->kind == PTX_OPND_IMM && op(L, 7)->imm;
    const bool in_registers = op(L, 1)->kind == PTX_OPND_VEC;
    unsigned m, n, k;
    ptx_shape_size((enum ptx_shape)i->shape, &m, &n, &k);
    struct words w = {{d, a, i->type[2], d, m, n, k,
                       (i->flags & PTX_F_SATFINITE ? MATRIX_SATFINITE : 0) |
                           (a_by_column ? MATRIX_BY_COLUMN : 0) |
                           (b_by_row ? 0 : MATRIX_B_BY_COLUMN) | (negate ? MATRIX_NEGATE : 0)},
                      MATRIX_LISTS};
    add_list(L, &w, op(L, 0), true, d, regs_for(d, ROWS * n));
    if (in_registers)
        add_list(L, &w, op(L, 1), false, a, regs_for(a, ROWS * k));
    uint32_t left = in_registers ? NO_OPERAND : lower_src(L, op(L, 1), 64);
    uint32_t right = lower_src(L, op(L, 2), 64), adds = lower_pred(L, op(L, 3));
    finish(L, op_wgmma, &w);
    if (L->error)
        return;
    struct insn *in = &L->code->insns[L->code->count - 1];
    in->a = adds;
    in->b = right;
    in->c = left;
}

static void lower_wgmma_arrive(struct lower *L, enum wgmma_count count)
{
    uint32_t members = lower_const32(L, ALL_LANES);
    struct insn *in = lower_emit(L, op_wgmma_arrive);
    in->imm = members;
    in->mode = count;
}

static void lower_wgmma_await(struct lower *L, enum wgmma_count count, uint64_t lags)
{
    struct insn *in = lower_emit(L, op_wgmma_wait);
    in->imm = lags;
    in->mode = count;
}

static void lower_wgmma_fence(struct lower *L)
{
    lower_wgmma_arrive(L, WGMMA_FENCES);
    lower_wgmma_await(L, WGMMA_FENCES, 0);
}

static void lower_wgmma_commit(struct lower *L)
{
    lower_wgmma_arrive(L, WGMMA_GROUPS);
}

static void lower_wgmma_wait(struct lower *L)
{
    lower_wgmma_await(L, WGMMA_GROUPS, op(L, 0)->imm);
}

// An address operand uses a and imm2, since imm holds the members.
static void set_address(struct lower *L, struct insn *in, const struct lower_mem *m)
{
    if (m->space == SPACE_FRAME || m->param)
        lower_fail(L, -ENOTSUP, "a matrix in this space");
    in->a = m->slot;
    in->mode = m->space;
    in->imm2 = m->imm;
}

static void lower_wmma_move(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool load = i->op == PTX_OP_WMMA_LOAD;
    unsigned m, n, k;
    enum ptx_type t = (enum ptx_type)i->type[0];
    ptx_shape_size((enum ptx_shape)i->shape, &m, &n, &k);
    unsigned rows = i->mode == PTX_MODE_WMMA_B ? k : m;
    unsigned columns = i->mode == PTX_MODE_WMMA_A ? k : n;
    struct lower_mem mem = lower_mem(L, op(L, load ? 1 : 0), (enum ptx_space)i->space);
    if (!is_element(t) || !k || rows * columns > 4096) {
        lower_fail(L, -ENOTSUP, "a fragment of this shape and type");
        return;
    }
    struct words w = {
        {t, t, t, t, rows, columns, 0, i->layout[0] == PTX_LAYOUT_COL ? MATRIX_BY_COLUMN : 0},
        MATRIX_LISTS};
    add_list(L, &w, op(L, load ? 0 : 1), load, t, regs_for(t, rows * columns));
    uint32_t stride = op(L, 2)->kind == PTX_OPND_NONE ? NO_OPERAND : lower_src(L, op(L, 2), 32);
    finish(L, load ? op_wmma_load : op_wmma_store, &w);
    if (L->error)
        return;
    struct insn *in = &L->code->insns[L->code->count - 1];
    set_address(L, in, &mem);
    in->c = stride;
}

static void lower_matrices(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool load = i->op == PTX_OP_LDMATRIX;
    struct lower_mem mem = lower_mem(L, op(L, load ? 1 : 0), (enum ptx_space)i->space);
    if (i->shape != PTX_SHAPE_M8N8 || ptx_type_bits((enum ptx_type)i->type[0]) != 16) {
        lower_fail(L, -ENOTSUP, "matrices of this shape");
        return;
    }
    struct words w = {{0, 0, 0, 0, 8, 8, 0, i->flags & PTX_F_TRANS ? MATRIX_BY_COLUMN : 0},
                      MATRIX_LISTS};
    add_list(L, &w, op(L, load ? 0 : 1), load, PTX_T_B32, i->num);
    if (!L->error && w.at[MATRIX_LISTS] > 4)
        lower_fail(L, -EINVAL, "at most four matrices");
    finish(L, load ? op_ldmatrix : op_stmatrix, &w);
    if (!L->error)
        set_address(L, &L->code->insns[L->code->count - 1], &mem);
}

static void lower_movmatrix(struct lower *L)
{
    uint32_t a = lower_src(L, op(L, 1), 32), d = lower_dst(L, op(L, 0), 32);
    uint32_t members = lower_const32(L, ALL_LANES);
    struct insn *in = lower_emit(L, op_movmatrix);
    in->a = a;
    in->d = d;
    in->imm = members;
}

bool lower_matrix(struct lower *L)
{
    void (*lower)(struct lower *);
    switch (L->inst->op) {
    case PTX_OP_MMA:
    case PTX_OP_WMMA_MMA:
        lower = lower_product;
        break;
    case PTX_OP_WMMA_LOAD:
    case PTX_OP_WMMA_STORE:
        lower = lower_wmma_move;
        break;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        lower = lower_matrices;
        break;
    case PTX_OP_MOVMATRIX:
        lower = lower_movmatrix;
        break;
    case PTX_OP_WGMMA:
        lower = lower_wgmma;
        break;
    case PTX_OP_WGMMA_COMMIT:
        lower = lower_wgmma_commit;
        break;
    case PTX_OP_WGMMA_WAIT:
        lower = lower_wgmma_wait;
        break;
    case PTX_OP_WGMMA_FENCE:
        lower = lower_wgmma_fence;
        break;
    default:
        return false;
    }
    uint32_t around = lower_go_around(L);
    lower(L);
    lower_come_back(L, around);
    return true;
}
