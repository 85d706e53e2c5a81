// Emitting instructions, and what their operands become: slots of registers, constants of the pool,
// addresses. The state is struct lower's.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/lower.h"

// Of a whole program: a small text can ask for much.
enum { MAX_INSNS = 1 << 23, MAX_AUX = 1 << 24, MAX_POOL = 256 << 20 };

// ---- Growing arrays

static bool grow(struct lower *L, void **array, size_t *room, size_t need, size_t size, size_t max)
{
    if (need <= *room)
        return true;
    size_t bigger = *room ? *room * 2 : 64;
    while (bigger < need)
        bigger *= 2;
    if (need > max) {
        lower_fail(L, -E2BIG, "the function is too long");
        return false;
    }
    void *grown = realloc(*array, bigger * size);
    if (!grown) {
        lower_fail(L, -ENOMEM, "out of memory");
        return false;
    }
    *array = grown;
    *room = bigger;
    return true;
}

struct insn *lower_emit(struct lower *L, insn_fn *run)
{
    static _Thread_local struct insn scratch;
    struct code *c = L->code;
    size_t lines_room = L->insns_room;
    if (L->program->ninsns >= MAX_INSNS)
        lower_fail(L, -E2BIG, "the program is too long");
    if (L->error ||
        !grow(L, (void **)&c->lines, &lines_room, c->count + 1, sizeof *c->lines, MAX_INSNS) ||
        !grow(L, (void **)&c->insns, &L->insns_room, c->count + 1, sizeof *c->insns, MAX_INSNS)) {
        scratch = (struct insn){.run = run};
        return &scratch;
    }
    struct insn *in = &c->insns[c->count];
    L->program->ninsns++;
    *in = (struct insn){.run = run, .guard = L->guard};
    c->lines[c->count++] = L->inst ? L->inst->line : L->func->line;
    return in;
}

struct insn *lower_alu1(struct lower *L, enum alu op, uint32_t d, uint32_t a)
{
    struct insn *in = lower_emit(L, L->alu[op]);
    in->d = d;
    in->a = a;
    return in;
}

struct insn *lower_alu2(struct lower *L, enum alu op, uint32_t d, uint32_t a, uint32_t b)
{
    struct insn *in = lower_alu1(L, op, d, a);
    in->b = b;
    return in;
}

struct insn *lower_alu3(struct lower *L, enum alu op, uint32_t d, uint32_t a, uint32_t b,
                        uint32_t c)
{
    struct insn *in = lower_alu2(L, op, d, a, b);
    in->c = c;
    return in;
}

uint32_t lower_aux(struct lower *L, const uint32_t *words, uint32_t count)
{
    uint32_t at = L->naux;
    if (L->error ||
        !grow(L, (void **)&L->code->aux, &L->aux_room, (size_t)at + count, sizeof *words, MAX_AUX))
        return 0;
    if (count)
        memcpy(L->code->aux + at, words, count * sizeof *words);
    L->naux += count;
    return at;
}

// ---- The constant pool: splat values, each once

static uint32_t pool_hash(uint64_t value, unsigned bits)
{
    uint64_t h = (value ^ bits) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(h >> 32);
}

// A pool slot remembers its width in the index: slot | width class in the two low bits.
static bool pool_matches(const struct lower *L, uint32_t entry, uint64_t value, unsigned bits)
{
    const uint8_t *at = L->code->pool + (entry & ~3u);
    uint64_t have = 0;
    if ((entry & 3) != (bits == 64 ? 2u : bits == 32 ? 1u : 3u))
        return false;
    memcpy(&have, at, bits == 64 ? 8 : 4);
    return have == (bits == 64 ? value : (uint32_t)value);
}

static bool pool_index_grow(struct lower *L)
{
    uint32_t room = L->pool_index_room ? L->pool_index_room * 2 : 64;
    uint32_t *index = calloc(room, sizeof *index);
    if (!index) {
        lower_fail(L, -ENOMEM, "out of memory");
        return false;
    }
    for (uint32_t i = 0; i < L->pool_index_room; i++) {
        uint32_t entry = L->pool_index[i];
        if (!entry)
            continue;
        uint64_t value = 0;
        unsigned bits = (entry & 3) == 2 ? 64 : (entry & 3) == 1 ? 32 : 1;
        memcpy(&value, L->code->pool + (entry & ~3u), bits == 64 ? 8 : 4);
        uint32_t h = pool_hash(value, bits) & (room - 1);
        while (index[h])
            h = (h + 1) & (room - 1);
        index[h] = entry;
    }
    free(L->pool_index);
    L->pool_index = index;
    L->pool_index_room = room;
    return true;
}

// Room for one slot in the pool; its alignment is the host's vectors'. 0 after an error.
static uint32_t pool_add(struct lower *L, uint64_t value, unsigned bits)
{
    struct code *c = L->code;
    uint32_t bytes = bits == 64 ? LANES * 8 : bits == 32 ? LANES * 4 : SLOT_ALIGN;
    uint32_t at = c->pool_bytes ? c->pool_bytes : SLOT_ALIGN; // 0 stays unused: it means none
    if (L->program->pool_bytes + bytes > MAX_POOL) {
        lower_fail(L, -E2BIG, "too many constants");
        return 0;
    }
    if (at + bytes > L->pool_room) {
        size_t room = L->pool_room ? L->pool_room * 2 : 4096;
        uint8_t *grown = aligned_alloc(SLOT_ALIGN, room);
        if (!grown) {
            lower_fail(L, -ENOMEM, "out of memory");
            return 0;
        }
        memset(grown, 0, room);
        if (c->pool)
            memcpy(grown, c->pool, c->pool_bytes);
        free(c->pool);
        c->pool = grown;
        L->pool_room = room;
    }
    if (bits == 64)
        u64_splat(c->pool + at, value);
    else
        for (unsigned l = 0; l < (bits == 32 ? LANES : 1); l++)
            memcpy(c->pool + at + 4 * l, &(uint32_t){(uint32_t)value}, 4);
    c->pool_bytes = at + bytes;
    L->program->pool_bytes += bytes;
    return at;
}

static uint32_t pool_const(struct lower *L, uint64_t value, unsigned bits)
{
    if (L->error)
        return 0;
    if (L->pool_entries * 2 >= L->pool_index_room && !pool_index_grow(L))
        return 0;
    uint32_t mask = L->pool_index_room - 1;
    uint32_t h = pool_hash(bits == 64 ? value : (uint32_t)value, bits) & mask;
    for (; L->pool_index[h]; h = (h + 1) & mask)
        if (pool_matches(L, L->pool_index[h], value, bits))
            return (L->pool_index[h] & ~3u) | 1;
    uint32_t at = pool_add(L, value, bits);
    if (!at)
        return 0;
    L->pool_index[h] = at | (bits == 64 ? 2u : bits == 32 ? 1u : 3u);
    L->pool_entries++;
    return at | 1;
}

uint32_t lower_const32(struct lower *L, uint32_t value)
{
    return pool_const(L, value, 32);
}

uint32_t lower_const64(struct lower *L, uint64_t value)
{
    return pool_const(L, value, 64);
}

uint32_t lower_const_pred(struct lower *L, bool value)
{
    return pool_const(L, value ? ALL_LANES : 0, 1);
}

// The address of a .global or .const variable: known when the program is bound.
static uint32_t pool_address(struct lower *L, const struct ptx_var *v, int64_t addend)
{
    struct exec_program *p = L->program;
    if (L->error)
        return 0;
    if (p->nrelocs == p->relocs_room) {
        size_t room = p->relocs_room ? p->relocs_room * 2 : 16;
        struct pool_reloc *grown = realloc(p->relocs, room * sizeof *grown);
        if (!grown) {
            lower_fail(L, -ENOMEM, "out of memory");
            return 0;
        }
        p->relocs = grown;
        p->relocs_room = room;
    }
    // one slot for each use of the same place would be waste: the last few are looked at
    for (size_t i = p->nrelocs, n = 0; i-- > 0 && n < 32; n++) {
        const struct pool_reloc *r = &p->relocs[i];
        if (r->code == L->code && r->var == v->id && r->addend == addend)
            return r->slot | 1;
    }
    uint32_t at = pool_add(L, 0, 64);
    if (!at)
        return 0;
    p->relocs[p->nrelocs++] = (struct pool_reloc){L->code, at, v->id, addend};
    return at | 1;
}

// ---- Registers

unsigned lower_type_bits(enum ptx_type type)
{
    unsigned bits = ptx_type_bits(type);
    return bits <= 1 ? bits : bits <= 32 ? 32 : bits;
}

unsigned lower_reg_bits(struct lower *L, uint32_t reg)
{
    return lower_type_bits((enum ptx_type)L->func->regs[reg].type);
}

unsigned lower_opnd_bits(struct lower *L, const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_REG ? lower_reg_bits(L, o->reg) : 0;
}

uint32_t lower_temp(struct lower *L)
{
    if (L->ntemps == LOWER_TEMPS) {
        lower_fail(L, -E2BIG, "too many operands need converting");
        return 0;
    }
    if (L->ntemps == L->temps_made) {
        L->temps[L->temps_made++] = L->frame_bytes;
        L->frame_bytes += LANES * 8;
    }
    return L->temps[L->ntemps++];
}

// A value that a handler has to compute.
static uint32_t emit_value(struct lower *L, insn_fn *run, uint32_t what, uint64_t imm,
                           unsigned bits)
{
    uint32_t t = lower_temp(L);
    struct insn *in = lower_emit(L, run);
    in->guard = NO_GUARD;
    in->d = t;
    in->target = what;
    in->imm = imm;
    in->type = bits == 64 ? PTX_T_U64 : PTX_T_U32;
    return t;
}

static bool is_kernel_param(const struct lower *L, const struct ptx_var *v)
{
    if (v->space != PTX_SPACE_PARAM || !L->func->entry)
        return false;
    for (uint32_t i = 0; i < L->func->nparams; i++)
        if (L->func->params[i] == v)
            return true;
    return false;
}

bool lower_frame_at(struct lower *L, const struct ptx_var *v, uint64_t *at)
{
    const struct ptx_func *f = L->func;
    if (!f->entry && v->space == PTX_SPACE_PARAM) {
        for (uint32_t i = 0; i < f->nparams; i++)
            if (f->params[i] == v) {
                *at = L->code->param_at[i];
                return true;
            }
        for (uint32_t i = 0; i < f->nrets; i++)
            if (f->rets[i] == v) {
                *at = L->code->ret_at[i];
                return true;
            }
    }
    if (v->func == f && v->id < f->nvars && f->vars[v->id] == v &&
        (v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM)) {
        *at = L->var_at[v->id];
        return true;
    }
    lower_fail(L, -ENOTSUP, "%s: a variable of this space has no place here", v->name);
    return false;
}

// The place of a sized .shared variable.
static uint64_t shared_at(struct lower *L, const struct ptx_var *v)
{
    if (!v->func)
        return L->program->shared_at[v->id];
    if (v->func == L->func && v->id < L->func->nvars && L->func->vars[v->id] == v)
        return L->var_at[v->id];
    lower_fail(L, -EINVAL, "%s: belongs to another function", v->name);
    return 0;
}

// The address of a variable, in its own space, as a value.
static uint32_t var_address(struct lower *L, const struct ptx_var *v, int64_t offset, unsigned bits)
{
    uint64_t at = 0;
    switch (v->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        if (v->func) // in the body: .const and .global there are the module's in all but name
            return (uint32_t)(uintptr_t)lower_fail(L, -ENOTSUP, "%s: no place for it", v->name);
        if (bits == 64)
            return pool_address(L, v, offset);
        lower_fail(L, -EINVAL, "%s: its address has 64 bits", v->name);
        return 0;
    case PTX_SPACE_SHARED:
        if (v->unsized)
            return emit_value(L, op_dynamic_shared, 0, (uint64_t)offset, bits);
        at = shared_at(L, v) + (uint64_t)offset;
        return bits == 64 ? lower_const64(L, at) : lower_const32(L, (uint32_t)at);
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
        if (is_kernel_param(L, v)) {
            at = v->offset + (uint64_t)offset;
            return bits == 64 ? lower_const64(L, at) : lower_const32(L, (uint32_t)at);
        }
        if (!lower_frame_at(L, v, &at))
            return 0;
        return emit_value(L, op_local_address, 0, at + (uint64_t)offset, bits);
    default:
        lower_fail(L, -ENOTSUP, "%s: the address of such a variable", v->name);
        return 0;
    }
}

static uint32_t sreg_value(struct lower *L, const struct ptx_operand *o, unsigned bits)
{
    return emit_value(L, op_sreg, o->sreg, o->index, bits);
}

uint32_t lower_src(struct lower *L, const struct ptx_operand *o, unsigned bits)
{
    uint32_t t;
    if (bits == 128 && o->kind != PTX_OPND_REG) { // a constant has one slot
        lower_fail(L, -ENOTSUP, "a value of 128 bits that is no register");
        return 0;
    }
    switch (o->kind) {
    case PTX_OPND_REG: {
        unsigned have = lower_reg_bits(L, o->reg);
        if (have == bits)
            return L->slot[o->reg];
        if (have != 32 && have != 64)
            break;
        if (bits != 32 && bits != 64)
            break;
        t = lower_temp(L);
        lower_alu1(L, bits == 64 ? ALU_ext_u32_b64 : ALU_low_b32, t, L->slot[o->reg])->guard =
            NO_GUARD;
        return t;
    }
    case PTX_OPND_IMM:
        return bits == 64 ? lower_const64(L, o->imm) : lower_const32(L, (uint32_t)o->imm);
    case PTX_OPND_SREG:
        return sreg_value(L, o, bits);
    case PTX_OPND_SYM:
        return var_address(L, o->sym.var, o->sym.offset, bits);
    case PTX_OPND_FUNC:
        if (bits == 64)
            return lower_const64(L, exec_program_function(L->program, o->func));
        break;
    default:
        break;
    }
    lower_fail(L, -EINVAL, "an operand of %u bits cannot stand here", bits);
    return 0;
}

uint32_t lower_src_type(struct lower *L, const struct ptx_operand *o, enum ptx_type type)
{
    uint32_t slot = lower_src(L, o, lower_type_bits(type) == 64 ? 64 : 32);
    // immediates of 16 bits were sign-extended; slots hold them zero-extended
    if (o->kind == PTX_OPND_IMM && ptx_type_bits(type) == 16)
        return lower_const32(L, (uint32_t)o->imm & 0xffffu);
    return slot;
}

uint32_t lower_pred(struct lower *L, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_IMM)
        return lower_const_pred(L, (o->imm & 1) != o->neg);
    if (o->kind != PTX_OPND_REG || lower_reg_bits(L, o->reg) != 1) {
        lower_fail(L, -EINVAL, "a predicate was expected");
        return 0;
    }
    if (!o->neg)
        return L->slot[o->reg];
    uint32_t t = lower_temp(L);
    lower_alu1(L, ALU_pred_not, t, L->slot[o->reg])->guard = NO_GUARD;
    return t;
}

// Where results of 128 bits go that nobody wants: twice as wide as a temporary.
static uint32_t wide_sink(struct lower *L)
{
    if (!L->wide_sink) {
        L->wide_sink = L->frame_bytes;
        L->frame_bytes += LANES * 16;
    }
    return L->wide_sink;
}

uint32_t lower_dst(struct lower *L, const struct ptx_operand *o, unsigned bits)
{
    if (o->kind == PTX_OPND_SINK || o->kind == PTX_OPND_NONE)
        return bits == 128 ? wide_sink(L) : lower_temp(L);
    if (o->kind == PTX_OPND_REG && lower_reg_bits(L, o->reg) == bits)
        return L->slot[o->reg];
    lower_fail(L, -EINVAL, "the result needs a register of %u bits", bits);
    return 0;
}

uint32_t lower_dst_pred(struct lower *L, const struct ptx_operand *o)
{
    return lower_dst(L, o, 1);
}

// ---- Addresses

static uint8_t space_of(struct lower *L, enum ptx_space space, bool narrow)
{
    switch (space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return SPACE_GLOBAL;
    case PTX_SPACE_SHARED:
        return narrow ? SPACE_SHARED_32 : SPACE_SHARED;
    case PTX_SPACE_LOCAL:
        return narrow ? SPACE_LOCAL_32 : SPACE_LOCAL;
    case PTX_SPACE_GENERIC:
        return narrow ? SPACE_GENERIC_32 : SPACE_GENERIC;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
    case PTX_SPACE_PARAM_FUNC:
        if (!L->func->entry || space == PTX_SPACE_PARAM_FUNC)
            return narrow ? SPACE_LOCAL_32 : SPACE_LOCAL;
        return narrow ? SPACE_PARAM_32 : SPACE_PARAM;
    default:
        lower_fail(L, -ENOTSUP, "memory of this space");
        return SPACE_GENERIC;
    }
}

struct lower_mem lower_mem(struct lower *L, const struct ptx_operand *o, enum ptx_space space)
{
    struct lower_mem m = {.imm = (uint64_t)o->mem.offset};
    if (o->kind != PTX_OPND_MEM) {
        lower_fail(L, -EINVAL, "an address was expected");
        return m;
    }
    const struct ptx_var *v = o->mem.var;
    if (o->mem.base == PTX_BASE_VAR && v->space == PTX_SPACE_PARAM && is_kernel_param(L, v)) {
        m.space = SPACE_PARAM;
        m.param = true;
        m.imm += v->offset;
        m.slot = lower_const64(L, 0);
    } else if (o->mem.base == PTX_BASE_VAR &&
               (v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM)) {
        uint64_t at = 0;
        lower_frame_at(L, v, &at);
        m.space = SPACE_FRAME;
        m.imm += at;
    } else if (o->mem.base == PTX_BASE_VAR) {
        enum ptx_space own = (enum ptx_space)v->space;
        m.space = space_of(L, own, own == PTX_SPACE_SHARED);
        m.slot = var_address(L, v, 0, own == PTX_SPACE_SHARED ? 32 : 64);
    } else if (o->mem.base == PTX_BASE_ABS) {
        m.space = space_of(L, space, false);
        m.slot = lower_const64(L, 0);
        if (m.space == SPACE_PARAM)
            m.param = true;
    } else {
        unsigned bits = lower_reg_bits(L, o->mem.reg);
        if (bits != 32 && bits != 64)
            lower_fail(L, -EINVAL, "an address needs a register of 32 or 64 bits");
        m.slot = L->slot[o->mem.reg];
        if (bits == 32 && space != PTX_SPACE_SHARED && space != PTX_SPACE_LOCAL) {
            m.slot = lower_temp(L);
            lower_alu1(L, ALU_ext_u32_b64, m.slot, L->slot[o->mem.reg])->guard = NO_GUARD;
            bits = 64;
        }
        m.space = space_of(L, space, bits == 32);
    }
    return m;
}

void lower_set_mem(struct insn *in, const struct lower_mem *m)
{
    in->a = m->slot;
    in->mode = m->space;
    in->imm = m->imm;
}
