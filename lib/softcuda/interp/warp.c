// Instructions in which the lanes of a warp exchange values: shfl, vote, match, redux, elect,
// bar.warp.sync, movmatrix. Each names its members. If all of them are in one path it runs at once;
// otherwise the path waits until the others have reached an instruction of the same kind with the
// same members, anywhere in the program, and then all take part.
#include "softcuda/interp/group.h"

static uint32_t operand(const struct part *p, size_t field)
{
    uint32_t o;
    memcpy(&o, (const uint8_t *)p->in + field, sizeof o);
    return o;
}

static void read32(const struct group *g, size_t field, uint32_t out[LANES])
{
    for (uint32_t i = 0; i < g->n; i++) {
        const u32 *from = PART_SLOT(u32, &g->part[i], operand(&g->part[i], field));
        for (unsigned l = 0; l < LANES; l++)
            out[l] = i == 0 || g->part[i].mask >> l & 1 ? from[l] : out[l];
    }
}

static void read64(const struct group *g, size_t field, uint64_t out[LANES])
{
    for (uint32_t i = 0; i < g->n; i++) {
        const u64 *from = PART_SLOT(u64, &g->part[i], operand(&g->part[i], field));
        for (unsigned l = 0; l < LANES; l++)
            out[l] = i == 0 || g->part[i].mask >> l & 1 ? from[l] : out[l];
    }
}

static uint32_t read_pred(const struct group *g, size_t field)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < g->n; i++)
        bits |= *PART_SLOT(u32, &g->part[i], operand(&g->part[i], field)) & g->part[i].mask;
    return bits;
}

static void write32(const struct group *g, size_t field, const uint32_t values[LANES])
{
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t mask = g->part[i].mask;
        u32 *to = PART_SLOT(u32, &g->part[i], operand(&g->part[i], field));
        for (unsigned l = 0; l < LANES; l++)
            to[l] = mask >> l & 1 ? values[l] : to[l];
    }
}

static void write_pred(const struct group *g, size_t field, uint32_t bits)
{
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t mask = g->part[i].mask, o = operand(&g->part[i], field);
        if (o == NO_OPERAND)
            continue;
        u32 *to = PART_SLOT(u32, &g->part[i], o);
        *to = (*to & ~mask) | (bits & mask);
    }
}

#define FIELD(name) offsetof(struct insn, name)

// ---- Who takes part

// Does not clear `part`: it is too large to clear for each exchange.
static void group_init(struct group *g, struct warp *w)
{
    g->w = w;
    g->n = g->lanes = 0;
}

static void add_part(struct group *g, const struct insn *in, const struct frame *f, uint32_t mask)
{
    g->part[g->n++] = (struct part){.in = in, .frame = f, .mask = mask};
    g->lanes |= mask;
}

static uint32_t with_members(const struct warp *w, const struct insn *in, uint32_t mask,
                             uint32_t members)
{
    const u32 *pm = SLOT(u32, w, (uint32_t)in->imm);
    uint32_t same = 0;
    for (unsigned l = 0; l < LANES; l++)
        same |= (uint32_t)(pm[l] == members) << l;
    return same & mask;
}

static bool are_all(const struct warp *w, uint32_t members, uint32_t lanes)
{
    return !(members & ~w->dead & ~lanes);
}

// Whether two instructions differ only in the slots that they name. Matrix instructions have
// operands of many shapes, so both must be the same instruction, as .aligned requires anyway.
static bool same_kind(const struct insn *a, const struct insn *b)
{
    return a == b || (a->run == b->run && a->mode == b->mode && a->type == b->type &&
                      !((a->flags ^ b->flags) & ~INSN_COUNTS) && !matrix_function(a));
}

static group_fn *group_function(const struct insn *in); // its work

// Runs every set of waiting paths that is complete by now.
void warp_recheck_members(struct warp *w)
{
    for (uint32_t i = 0; i < w->npaths; i++) {
        struct path *p = &w->paths[i];
        if (p->state != PATH_MEMBERS)
            continue;
        struct group g;
        group_init(&g, w);
        for (uint32_t k = i; k < w->npaths; k++) {
            struct path *q = &w->paths[k];
            if (q->state == PATH_MEMBERS && q->members == p->members && same_kind(q->at, p->at))
                add_part(&g, q->at, q->frame, q->mask);
        }
        if (!are_all(w, p->members, g.lanes))
            continue;
        if (group_function(p->at)(&g))
            w->faulted =
                true; // the loop finds it: the path that completed the group may have exited
        uint32_t members = p->members;
        const struct insn *at = p->at;
        for (uint32_t k = i; k < w->npaths; k++) {
            struct path *q = &w->paths[k];
            if (q->state == PATH_MEMBERS && q->members == members && same_kind(q->at, at))
                q->state = PATH_READY;
        }
    }
}

// All lanes of the group are in the current path.
static int take_part_alone(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct group g;
    group_init(&g, w);
    add_part(&g, in, w->frame, mask);
    return group_function(in)(&g);
}

int group_take_part(struct warp *w, const struct insn *in, uint32_t mask)
{
    if (in->flags & INSN_NOINC) { // without .sync the lanes of the path are the group
        return take_part_alone(w, in, mask);
    }
    const u32 *pm = SLOT(u32, w, (uint32_t)in->imm);
    uint32_t first = pm[__builtin_ctz(mask)];
    bool complete = true;
    if (with_members(w, in, mask, first) == mask && are_all(w, first, mask))
        return take_part_alone(w, in, mask);
    for (uint32_t rest = mask; rest;) {
        uint32_t members = pm[__builtin_ctz(rest)], same = with_members(w, in, mask, members);
        complete &= are_all(w, members, same);
        rest &= ~same;
    }
    if (complete) {
        for (uint32_t rest = mask; rest;) {
            struct group g;
            group_init(&g, w);
            uint32_t members = pm[__builtin_ctz(rest)];
            add_part(&g, in, w->frame, with_members(w, in, mask, members));
            if (group_function(in)(&g))
                return STEP_FAULT;
            rest &= ~g.lanes;
        }
        return STEP_NEXT;
    }
    uint32_t members = pm[__builtin_ctz(mask)], same = with_members(w, in, mask, members);
    if (same != mask) { // lanes with other members run this instruction again
        int step = warp_split(w, in, mask & ~same, w->pc - 1, NO_TARGET);
        if (step)
            return step;
    }
    w->paths[w->current].members = members;
    warp_block_path(w, in, PATH_MEMBERS);
    warp_recheck_members(w);
    return STEP_SWITCH;
}

// ---- What the instructions compute

static int do_nothing(const struct group *g)
{
    (void)g;
    return STEP_NEXT;
}

// Returns the operand in its slot if one path has all lanes, else a copy of all paths' parts in
// OWN.
static const u32 *look32(const struct group *g, size_t field, uint32_t own[LANES])
{
    if (g->n == 1)
        return PART_SLOT(u32, &g->part[0], operand(&g->part[0], field));
    read32(g, field, own);
    return own;
}

static int do_shfl(const struct group *g)
{
    uint32_t own_a[LANES], own_b[LANES], own_c[LANES], out[LANES], from[LANES], most[LANES];
    const u32 *a = look32(g, FIELD(a), own_a), *b = look32(g, FIELD(b), own_b),
              *c = look32(g, FIELD(c), own_c);
    uint8_t mode = g->part[0].in->mode;
    uint32_t inside = 0;
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t lane = b[l] & 31, clamp = c[l] & 31, segment = c[l] >> 8 & 31;
        most[l] = (l & segment) | (clamp & ~segment);
        from[l] = mode == PTX_MODE_UP     ? l - lane
                  : mode == PTX_MODE_DOWN ? l + lane
                  : mode == PTX_MODE_BFLY ? l ^ lane
                                          : (l & segment) | (lane & ~segment);
    }
    for (uint32_t l = 0; l < LANES; l++) {
        bool ok = mode == PTX_MODE_UP ? (int32_t)from[l] >= (int32_t)most[l] : from[l] <= most[l];
        inside |= (uint32_t)ok << l;
        out[l] = a[ok ? from[l] & 31 : l];
    }
    write32(g, FIELD(d), out);
    write_pred(g, FIELD(target), inside);
    return STEP_NEXT;
}

static int do_vote(const struct group *g)
{
    uint32_t p = read_pred(g, FIELD(a)), out[LANES];
    switch (g->part[0].in->mode) {
    case PTX_MODE_ALL:
        write_pred(g, FIELD(d), p == g->lanes ? ALL_LANES : 0);
        break;
    case PTX_MODE_ANY:
        write_pred(g, FIELD(d), p ? ALL_LANES : 0);
        break;
    case PTX_MODE_UNI:
        write_pred(g, FIELD(d), !p || p == g->lanes ? ALL_LANES : 0);
        break;
    default:
        for (unsigned l = 0; l < LANES; l++)
            out[l] = p;
        write32(g, FIELD(d), out);
        break;
    }
    return STEP_NEXT;
}

static int do_match(const struct group *g)
{
    const struct insn *in = g->part[0].in;
    uint64_t a[LANES];
    uint32_t out[LANES] = {0}, everyone = ALL_LANES;
    if (ptx_type_bits((enum ptx_type)in->type) == 64) {
        read64(g, FIELD(a), a);
    } else {
        uint32_t narrow[LANES];
        read32(g, FIELD(a), narrow);
        for (unsigned l = 0; l < LANES; l++)
            a[l] = narrow[l];
    }
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned k = 0; k < LANES; k++)
            out[l] |= (uint32_t)(a[k] == a[l]) << k & g->lanes;
    if (in->mode == PTX_MODE_ALL) {
        everyone = out[__builtin_ctz(g->lanes)] == g->lanes ? ALL_LANES : 0;
        for (unsigned l = 0; l < LANES; l++)
            out[l] = everyone ? g->lanes : 0;
    }
    write32(g, FIELD(d), out);
    write_pred(g, FIELD(target), everyone);
    return STEP_NEXT;
}

static float redux_float(const struct insn *in, float x, float y)
{
    bool nan = in->flags & INSN_RELU && (x != x || y != y);
    return nan ? f32_from(F32_NAN) : in->mode == PTX_AOP_MIN ? f32_min(x, y) : f32_max(x, y);
}

static uint32_t redux_step(const struct insn *in, uint32_t x, uint32_t y)
{
    bool is_signed = in->type == PTX_T_S32;
    if (in->type == PTX_T_F32)
        return f32_out(redux_float(in, f32_from(x), f32_from(y)));
    switch (in->mode) {
    case PTX_AOP_ADD:
        return x + y;
    case PTX_AOP_AND:
        return x & y;
    case PTX_AOP_OR:
        return x | y;
    case PTX_AOP_XOR:
        return x ^ y;
    case PTX_AOP_MIN:
        return is_signed ? (uint32_t)((int32_t)x < (int32_t)y ? (int32_t)x : (int32_t)y)
                         : (x < y ? x : y);
    default:
        return is_signed ? (uint32_t)((int32_t)x > (int32_t)y ? (int32_t)x : (int32_t)y)
                         : (x > y ? x : y);
    }
}

static int do_redux(const struct group *g)
{
    const struct insn *in = g->part[0].in;
    uint32_t a[LANES], out[LANES];
    read32(g, FIELD(a), a);
    if (in->flags & INSN_SAT) // .abs
        for (unsigned l = 0; l < LANES; l++)
            a[l] &= 0x7fffffffu;
    unsigned first = (unsigned)__builtin_ctz(g->lanes);
    uint32_t sum = a[first];
    for (uint32_t rest = g->lanes & ~(1u << first); rest; rest &= rest - 1)
        sum = redux_step(in, sum, a[__builtin_ctz(rest)]);
    for (unsigned l = 0; l < LANES; l++)
        out[l] = sum;
    write32(g, FIELD(d), out);
    return STEP_NEXT;
}

static int do_elect(const struct group *g)
{
    uint32_t out[LANES], leader = (uint32_t)__builtin_ctz(g->lanes);
    for (unsigned l = 0; l < LANES; l++)
        out[l] = leader;
    write32(g, FIELD(d), out);
    write_pred(g, FIELD(target), 1u << leader);
    return STEP_NEXT;
}

// An 8x8 matrix of 16-bit elements, row r in lanes 4r..4r+3, transposed.
static int do_movmatrix(const struct group *g)
{
    uint32_t a[LANES], out[LANES];
    read32(g, FIELD(a), a);
    for (unsigned l = 0; l < LANES; l++) {
        unsigned row = l / 4, column = l % 4 * 2;
        uint32_t low = a[column * 4 + row / 2] >> (row & 1) * 16 & 0xffffu;
        uint32_t high = a[(column + 1) * 4 + row / 2] >> (row & 1) * 16 & 0xffffu;
        out[l] = low | high << 16;
    }
    write32(g, FIELD(d), out);
    return STEP_NEXT;
}

// ---- The handlers

int op_bar_warp(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_shfl(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_vote(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_match(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_redux(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_elect(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

int op_movmatrix(struct warp *w, const struct insn *in, uint32_t mask)
{
    return group_take_part(w, in, mask);
}

static group_fn *group_function(const struct insn *in)
{
    return in->run == op_shfl        ? do_shfl
           : in->run == op_vote      ? do_vote
           : in->run == op_match     ? do_match
           : in->run == op_redux     ? do_redux
           : in->run == op_elect     ? do_elect
           : in->run == op_movmatrix ? do_movmatrix
           : matrix_function(in)     ? matrix_function(in)
                                     : do_nothing;
}

int op_activemask(struct warp *w, const struct insn *in, uint32_t mask)
{
    u32 *d = SLOT(u32, w, in->d);
    for (unsigned l = 0; l < LANES; l++)
        d[l] = mask >> l & 1 ? mask : d[l];
    return STEP_NEXT;
}
