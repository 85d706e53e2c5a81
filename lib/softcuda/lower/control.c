// Branches, calls, barriers and instructions among the lanes of a warp.
#include <errno.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/lower/lower.h"

static const struct ptx_operand *op(const struct lower *L, unsigned i)
{
    return &L->inst->ops[i];
}

static uint32_t inst_index(const struct lower *L)
{
    return (uint32_t)(L->inst - L->func->insts);
}

uint32_t lower_go_around(struct lower *L)
{
    if (L->guard == NO_GUARD)
        return NO_TARGET;
    uint32_t at = L->code->count;
    L->guard ^= 1;
    struct insn *in = lower_emit(L, op_bra);
    in->mode = 1; // target and d are already indices in this code
    L->guard = NO_GUARD;
    return at;
}

void lower_come_back(struct lower *L, uint32_t at)
{
    if (at == NO_TARGET || L->error)
        return;
    uint32_t here = L->code->count;
    lower_emit(L, op_join);
    L->code->insns[at].target = here;
    L->code->insns[at].d = here;
}

// ---- Branches

static void lower_bra(struct lower *L)
{
    struct insn *in = lower_emit(L, op_bra);
    in->target = L->func->labels[op(L, 0)->label].inst;
    in->d = L->join_of[inst_index(L)];
}

static void lower_brx(struct lower *L)
{
    const struct ptx_table *t = &L->func->tables[op(L, 1)->table];
    uint32_t a = lower_src(L, op(L, 0), 32), first = 0;
    if (t->calls || !t->count) {
        lower_fail(L, -EINVAL, "a list of branch targets was expected");
        return;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t inst = L->func->labels[t->labels[i]].inst;
        uint32_t at = lower_aux(L, &inst, 1);
        first = i ? first : at;
    }
    struct insn *in = lower_emit(L, op_brx);
    in->a = a;
    in->aux = first;
    in->imm = t->count;
    in->d = L->join_of[inst_index(L)];
}

// ---- Calls

// One argument or result: its offset in the caller's frame, and its size.
struct passed {
    uint32_t at, bytes;
};

// A .param variable of the caller, or a register or constant that is put into a hidden one.
static struct passed pass(struct lower *L, const struct ptx_operand *o, bool result)
{
    struct passed p = {0};
    if (o->kind == PTX_OPND_MEM && o->mem.base == PTX_BASE_VAR) {
        uint64_t at = 0;
        if (lower_frame_at(L, o->mem.var, &at)) {
            p.at = (uint32_t)at;
            p.bytes = (uint32_t)o->mem.var->size;
        }
        return p;
    }
    unsigned bits = lower_opnd_bits(L, o) == 64 || (o->kind == PTX_OPND_IMM) ? 64 : 32;
    if (o->kind == PTX_OPND_SINK)
        return p;
    if (o->kind != PTX_OPND_REG && o->kind != PTX_OPND_IMM) {
        lower_fail(L, -ENOTSUP, "an argument of this kind");
        return p;
    }
    L->local_bytes = (L->local_bytes + 7) / 8 * 8;
    p.at = L->local_bytes;
    p.bytes = bits / 8;
    L->local_bytes += 8;
    if (result)
        return p;
    uint32_t from = lower_src(L, o, bits);
    struct insn *in = lower_emit(L, L->alu[bits == 64 ? ALU_st_b64 : ALU_st_b32]);
    in->mode = SPACE_FRAME;
    in->imm = p.at;
    in->b = from;
    return p;
}

static void fetch_result(struct lower *L, const struct ptx_operand *o, struct passed p)
{
    if (o->kind != PTX_OPND_REG)
        return;
    unsigned bits = lower_opnd_bits(L, o) == 64 ? 64 : 32;
    uint32_t d = lower_dst(L, o, bits);
    struct insn *in = lower_emit(L, L->alu[bits == 64 ? ALU_ld_b64 : ALU_ld_b32]);
    in->mode = SPACE_FRAME;
    in->imm = p.at;
    in->d = d;
}

// Moves a register that is a parameter or result of this function from or to its offset in the
// frame.
static void move_register(struct lower *L, const struct ptx_var *v, uint32_t at, bool take)
{
    if (v->space != PTX_SPACE_REG || !strcmp(v->name, "_"))
        return;
    uint32_t slot = L->slot[v->offset];
    bool wide = v->size == 8;
    struct insn *in = lower_emit(
        L, L->alu[take ? (wide ? ALU_ld_b64 : ALU_ld_b32) : (wide ? ALU_st_b64 : ALU_st_b32)]);
    in->mode = SPACE_FRAME;
    in->imm = at;
    if (take)
        in->d = slot;
    else
        in->b = slot;
}

void lower_take_params(struct lower *L)
{
    const struct ptx_func *f = L->func;
    for (uint32_t i = 0; !f->entry && i < f->nparams; i++)
        move_register(L, f->params[i], L->code->param_at[i], true);
}

void lower_return(struct lower *L)
{
    const struct ptx_func *f = L->func;
    for (uint32_t i = 0; !f->entry && i < f->nrets; i++)
        move_register(L, f->rets[i], L->code->ret_at[i], false);
    lower_emit(L, f->entry ? op_exit : op_ret);
}

static uint32_t list_count(const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_LIST ? o->count : 0;
}

// The results and arguments of a call.
struct actuals {
    uint32_t nrets, nargs;
    struct passed results[16];
    uint32_t args[2 * 64]; // offset and bytes of each
};

static bool actuals_take(struct lower *L, struct actuals *a)
{
    const struct ptx_operand *rets = op(L, 0), *args = op(L, 2);

    a->nrets = list_count(rets);
    a->nargs = list_count(args);
    if (a->nrets > ARRAY_SIZE(a->results)) {
        lower_fail(L, -E2BIG, "more than 16 results");
        return false;
    }
    if (a->nargs > ARRAY_SIZE(a->args) / 2) {
        lower_fail(L, -E2BIG, "more than 64 arguments");
        return false;
    }
    for (uint32_t i = 0; i < a->nargs; i++) {
        const struct passed p = pass(L, &args->list[i], false);

        a->args[2 * i] = p.at;
        a->args[2 * i + 1] = p.bytes;
    }
    for (uint32_t i = 0; i < a->nrets; i++)
        a->results[i] = pass(L, &rets->list[i], true);
    return true;
}

// aux: nrets, nargs, then at and bytes of each result, then of each argument
static uint32_t actuals_aux(struct lower *L, const struct actuals *a)
{
    const uint32_t aux = lower_aux(L, (uint32_t[]){a->nrets, a->nargs}, 2);

    for (uint32_t i = 0; i < a->nrets; i++)
        lower_aux(L, (uint32_t[]){a->results[i].at, a->results[i].bytes}, 2);
    lower_aux(L, a->args, 2 * a->nargs);
    return aux;
}

static void builtin_check(struct lower *L, const struct builtin *b, const struct actuals *a)
{
    if (a->nargs < b->nparams || (b->ret_bytes && !a->nrets))
        lower_fail(L, -EINVAL, "%s takes %u arguments", b->name, b->nparams);
    for (uint32_t i = 0; i < b->nparams && i < a->nargs; i++)
        if (a->args[2 * i + 1] < b->param_bytes[i])
            lower_fail(L, -EINVAL, "argument %u of %s is too short", i + 1, b->name);
    if (b->ret_bytes && a->nrets && a->results[0].bytes < b->ret_bytes)
        lower_fail(L, -EINVAL, "the result of %s is longer", b->name);
}

static void call_direct(struct lower *L, const struct ptx_func *f, const struct actuals *a,
                        uint32_t aux)
{
    const struct builtin *b;
    struct insn *in;

    while (f->alias)
        f = f->alias;
    b = f->has_body ? NULL : builtin_find(f->name);
    if (!b && !f->has_body) {
        lower_fail(L, -ENOTSUP, "%s is declared but nothing defines it", f->name);
        return;
    }
    in = lower_emit(L, b ? b->run : op_call);
    in->target = f->id;
    in->aux = aux;
    if (b)
        builtin_check(L, b, a);
}

static void call_indirect(struct lower *L, const struct ptx_operand *callee, uint32_t aux)
{
    const uint32_t a = lower_src(L, callee, 64);
    struct insn *in = lower_emit(L, op_call_indirect);

    in->a = a;
    in->aux = aux;
    in->d = L->code->count;
    lower_emit(L, op_join);
}

static void lower_call(struct lower *L)
{
    const struct ptx_operand *rets = op(L, 0), *callee = op(L, 1);
    struct actuals a;
    uint32_t aux;

    if (!actuals_take(L, &a))
        return;
    aux = actuals_aux(L, &a);
    if (callee->kind == PTX_OPND_FUNC)
        call_direct(L, callee->func, &a, aux);
    else if (callee->kind == PTX_OPND_REG)
        call_indirect(L, callee, aux);
    else
        lower_fail(L, -EINVAL, "a function was expected");
    for (uint32_t i = 0; i < a.nrets && !L->error; i++)
        fetch_result(L, &rets->list[i], a.results[i]);
}

// ---- Barriers

static void lower_bar(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool reduces = i->op == PTX_OP_BAR_RED || i->op == PTX_OP_BARRIER_RED;
    bool arrives = i->op == PTX_OP_BAR_ARRIVE || i->op == PTX_OP_BARRIER_ARRIVE;
    unsigned first = reduces ? 1 : 0;
    uint32_t a = lower_src(L, op(L, first), 32), b = NO_OPERAND, c = NO_OPERAND, d = NO_OPERAND;
    if (i->nops > first + 1 && op(L, first + 1)->kind != PTX_OPND_NONE)
        b = lower_src(L, op(L, first + 1), 32);
    if (reduces) {
        c = lower_pred(L, op(L, 3));
        d = i->bop == PTX_BOP_POPC ? lower_dst(L, op(L, 0), 32) : lower_dst_pred(L, op(L, 0));
    }
    struct insn *in = lower_emit(L, reduces ? op_bar_red : arrives ? op_bar_arrive : op_bar_sync);
    in->a = a;
    in->b = b;
    in->c = c;
    in->d = d;
    in->mode = i->bop;
}

// ---- Among lanes. a: value, b, c: further operands, target: second result, imm: slot of the
// member mask

static uint32_t members(struct lower *L, unsigned i)
{
    return L->inst->flags & PTX_F_SYNC || L->inst->op == PTX_OP_BAR_WARP_SYNC
               ? lower_src(L, op(L, i), 32)
               : lower_const32(L, ALL_LANES);
}

static void lower_shfl(struct lower *L)
{
    uint32_t a = lower_src(L, op(L, 2), 32), b = lower_src(L, op(L, 3), 32);
    uint32_t c = lower_src(L, op(L, 4), 32), m = members(L, 5);
    uint32_t d = lower_dst(L, op(L, 0), 32);
    uint32_t p = op(L, 1)->kind == PTX_OPND_REG ? lower_dst_pred(L, op(L, 1)) : NO_OPERAND;
    struct insn *in = lower_emit(L, op_shfl);
    in->a = a;
    in->b = b;
    in->c = c;
    in->d = d;
    in->target = p;
    in->imm = m;
    in->mode = L->inst->mode;
    in->flags = L->inst->flags & PTX_F_SYNC ? 0 : INSN_NOINC;
}

static void lower_vote(struct lower *L)
{
    bool ballot = L->inst->mode2 == PTX_MODE_BALLOT || L->inst->mode == PTX_MODE_BALLOT;
    uint32_t a = lower_pred(L, op(L, 1)), m = members(L, 2);
    uint32_t d = ballot ? lower_dst(L, op(L, 0), 32) : lower_dst_pred(L, op(L, 0));
    struct insn *in = lower_emit(L, op_vote);
    in->a = a;
    in->d = d;
    in->imm = m;
    in->mode = ballot ? PTX_MODE_BALLOT : L->inst->mode;
    in->flags = L->inst->flags & PTX_F_SYNC ? 0 : INSN_NOINC;
}

static void lower_match(struct lower *L)
{
    enum ptx_type t = (enum ptx_type)L->inst->type[0];
    uint32_t a = lower_src(L, op(L, 2), lower_type_bits(t)), m = members(L, 3);
    uint32_t d = lower_dst(L, op(L, 0), 32);
    uint32_t p = op(L, 1)->kind == PTX_OPND_REG ? lower_dst_pred(L, op(L, 1)) : NO_OPERAND;
    struct insn *in = lower_emit(L, op_match);
    in->a = a;
    in->d = d;
    in->target = p;
    in->imm = m;
    in->mode = L->inst->mode;
    in->type = (uint8_t)t;
}

static void lower_redux(struct lower *L)
{
    enum ptx_type t = (enum ptx_type)L->inst->type[0];
    uint32_t a = lower_src(L, op(L, 1), 32), m = members(L, 2), d = lower_dst(L, op(L, 0), 32);
    struct insn *in = lower_emit(L, op_redux);
    in->a = a;
    in->d = d;
    in->imm = m;
    in->mode = L->inst->aop;
    in->type = (uint8_t)t;
    in->flags = (uint16_t)((L->inst->flags & PTX_F_ABS ? INSN_SAT : 0) |
                           (L->inst->flags & PTX_F_NAN ? INSN_RELU : 0));
}

static void lower_elect(struct lower *L)
{
    uint32_t m = members(L, 2), d = lower_dst(L, op(L, 0), 32);
    uint32_t p = op(L, 1)->kind == PTX_OPND_REG ? lower_dst_pred(L, op(L, 1)) : NO_OPERAND;
    struct insn *in = lower_emit(L, op_elect);
    in->d = d;
    in->target = p;
    in->imm = m;
}

static void lower_bar_warp(struct lower *L)
{
    uint32_t m = members(L, 0);
    lower_emit(L, op_bar_warp)->imm = m;
}

// ---- The stack

static void lower_stack(struct lower *L)
{
    unsigned bits = lower_type_bits((enum ptx_type)L->inst->type[0]);
    struct insn *in;
    if (L->inst->op == PTX_OP_STACKRESTORE) {
        uint32_t a = lower_src(L, op(L, 0), 64);
        lower_emit(L, op_stackrestore)->a = a;
        return;
    }
    uint32_t d = lower_dst(L, op(L, 0), bits), a = 0;
    uint64_t align = 16;
    if (L->inst->op == PTX_OP_ALLOCA) {
        a = lower_src(L, op(L, 1), 64);
        if (op(L, 2)->kind == PTX_OPND_IMM && op(L, 2)->imm && op(L, 2)->imm <= 4096)
            align = op(L, 2)->imm;
    }
    in = lower_emit(L, L->inst->op == PTX_OP_ALLOCA ? op_alloca : op_stacksave);
    in->d = d;
    in->a = a;
    in->imm = align;
    in->type = bits == 64 ? PTX_T_U64 : PTX_T_U32;
}

// ---- One instruction

static void lower_activemask(struct lower *L)
{
    lower_emit(L, op_activemask)->d = lower_dst(L, op(L, 0), 32);
}

static void lower_nanosleep(struct lower *L)
{
    uint32_t a = lower_src(L, op(L, 0), 32);
    lower_emit(L, op_nanosleep)->a = a;
}

static void lower_griddepcontrol(struct lower *L)
{
    lower_emit(L, L->inst->mode == PTX_MODE_WAIT ? op_await_grids : op_launch_dependents);
}

static void lower_nothing(struct lower *L)
{
    (void)L;
}

static const struct control {
    void (*lower)(struct lower *L);
    insn_fn *run; // of an instruction without operands
    bool around;  // lanes whose guard is false go around it by a branch
} controls[PTX_OP_COUNT] = {
    [PTX_OP_BRA] = {.lower = lower_bra},
    [PTX_OP_BRX_IDX] = {.lower = lower_brx, .around = true},
    [PTX_OP_CALL] = {.lower = lower_call, .around = true},
    [PTX_OP_RET] = {.lower = lower_return},
    [PTX_OP_EXIT] = {.run = op_exit},
    [PTX_OP_TRAP] = {.run = op_trap},
    [PTX_OP_BRKPT] = {.run = op_trap},
    [PTX_OP_BAR_SYNC] = {.lower = lower_bar, .around = true},
    [PTX_OP_BAR_ARRIVE] = {.lower = lower_bar, .around = true},
    [PTX_OP_BAR_RED] = {.lower = lower_bar, .around = true},
    [PTX_OP_BARRIER_SYNC] = {.lower = lower_bar, .around = true},
    [PTX_OP_BARRIER_ARRIVE] = {.lower = lower_bar, .around = true},
    [PTX_OP_BARRIER_RED] = {.lower = lower_bar, .around = true},
    [PTX_OP_BARRIER_CLUSTER_ARRIVE] = {.run = op_cluster_arrive},
    [PTX_OP_BARRIER_CLUSTER_WAIT] = {.run = op_cluster_wait, .around = true},
    [PTX_OP_BAR_WARP_SYNC] = {.lower = lower_bar_warp, .around = true},
    [PTX_OP_SHFL] = {.lower = lower_shfl, .around = true},
    [PTX_OP_VOTE] = {.lower = lower_vote, .around = true},
    [PTX_OP_MATCH] = {.lower = lower_match, .around = true},
    [PTX_OP_REDUX] = {.lower = lower_redux, .around = true},
    [PTX_OP_ELECT] = {.lower = lower_elect, .around = true},
    [PTX_OP_ACTIVEMASK] = {.lower = lower_activemask},
    [PTX_OP_MEMBAR] = {.run = op_fence},
    [PTX_OP_MEMBAR_PROXY] = {.run = op_fence},
    [PTX_OP_FENCE] = {.run = op_fence},
    [PTX_OP_FENCE_MBARRIER_INIT] = {.run = op_fence},
    [PTX_OP_FENCE_PROXY] = {.run = op_fence},
    [PTX_OP_FENCE_PROXY_TENSORMAP] = {.run = op_fence},
    [PTX_OP_ALLOCA] = {.lower = lower_stack},
    [PTX_OP_STACKSAVE] = {.lower = lower_stack},
    [PTX_OP_STACKRESTORE] = {.lower = lower_stack},
    [PTX_OP_NANOSLEEP] = {.lower = lower_nanosleep, .around = true},
    [PTX_OP_PMEVENT] = {.lower = lower_nothing},
    [PTX_OP_SETMAXNREG] = {.lower = lower_nothing},
    [PTX_OP_PRAGMA] = {.lower = lower_nothing},
    [PTX_OP_GRIDDEPCONTROL] = {.lower = lower_griddepcontrol, .around = true},
};

bool lower_control(struct lower *L)
{
    const struct control *control = &controls[L->inst->op];
    if (!control->lower && !control->run)
        return false;
    uint32_t around = control->around ? lower_go_around(L) : NO_TARGET;
    if (control->lower)
        control->lower(L);
    else
        lower_emit(L, control->run);
    lower_come_back(L, around);
    return true;
}
