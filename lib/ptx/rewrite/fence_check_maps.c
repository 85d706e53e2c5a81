/* The checker's part for tensor maps: rule 6 of fence_check.c. */
#include "ptx/rewrite/by_name.h"
#include "ptx/rewrite/fence_check.h"

enum { MAP_BYTES = 128, MAP_ALIGN = 64 };

static bool is_parameter(const struct ptx_func *f, const struct ptx_var *v)
{
    for (uint32_t i = 0; f->entry && i < f->nparams; i++)
        if (f->params[i] == v)
            return true;
    return false;
}

/* Whether the report lists the map that begins there. Whoever launches the kernel checks this map,
 * and no listed map overlaps it. */
static bool is_reported(const struct checker *c, const struct ptx_var *v, uint64_t offset)
{
    bool found = false;
    const struct ptx_fence_maps *maps =
        by_name_find(c->report->maps, c->report->nmaps, sizeof(*maps), c->f->name);

    for (uint32_t i = 0; maps && i < maps->count; i++)
        if (maps->map[i].parameter < c->f->nparams && c->f->params[maps->map[i].parameter] == v) {
            const uint64_t other = maps->map[i].offset;

            if (other != offset && other < offset + MAP_BYTES && offset < other + MAP_BYTES)
                return false;
            found |= other == offset;
        }
    return found;
}

/* Whether instruction I takes the address of a parameter. */
static bool takes_parameter(const struct checker *c, uint32_t i, const char *reg)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    const struct ptx_operand *o = inst->ops;

    return inst->op == PTX_OP_MOV && o[1].kind == PTX_OPND_SYM && !o[1].sym.offset &&
           is_parameter(c->f, o[1].sym.var) &&
           checker_reads(c, i, "mov.b64 %s, %s;", reg, o[1].sym.var->name);
}

/* Whether instruction I adds a constant to the address. */
static bool adds_offset(const struct checker *c, uint32_t i, const char *reg)
{
    const struct ptx_inst *inst = &c->f->insts[i];

    return inst->op == PTX_OP_ADD && inst->ops[2].kind == PTX_OPND_IMM &&
           checker_reads(c, i, "add.s64 %s, %s, %lld;", reg, reg, (long long)inst->ops[2].imm);
}

/* Whether the two instructions that always run right before *I make the address of a listed map.
 * *I: the first of them. */
static bool is_map_address(const struct checker *c, uint32_t *i, const char *reg)
{
    uint64_t offset;
    const struct ptx_var *v;

    if (*i < 2 || c->labelled[*i] || c->labelled[*i - 1] || !adds_offset(c, *i - 1, reg) ||
        !takes_parameter(c, *i - 2, reg))
        return false;
    offset = c->f->insts[*i - 1].ops[2].imm;
    v = c->f->insts[*i - 2].ops[1].sym.var;
    *i -= 2;
    return offset <= v->size && MAP_BYTES <= v->size - offset && v->align >= MAP_ALIGN &&
           offset % MAP_ALIGN == 0 && is_reported(c, v, offset);
}

/* Whether the code that always runs right before instruction I makes gshare$map: the address of a
 * map, or a choice between several. */
static bool is_made(const struct checker *c, uint32_t i)
{
    while (checker_precedes(c, &i, "selp.b64 gshare$map, gshare$other, gshare$map, gshare$which;"))
        if (!checker_precedes(c, &i, "cvta.param.u64 gshare$other, gshare$other;") || !i ||
            c->labelled[i] || c->f->insts[--i].op != PTX_OP_SETP ||
            !is_map_address(c, &i, "gshare$other"))
            return false;
    return checker_precedes(c, &i, "cvta.param.u64 gshare$map, gshare$map;") &&
           is_map_address(c, &i, "gshare$map");
}

static bool mentions_map(const struct checker *c, const struct ptx_inst *inst)
{
    for (unsigned k = 0; k < inst->nops; k++)
        if ((c->map != PTX_NO_REG && checker_mentions(&inst->ops[k], c->map)) ||
            (c->other != PTX_NO_REG && checker_mentions(&inst->ops[k], c->other)))
            return true;
    return false;
}

/* Whether instruction I is a part of such code, and writes no other register. */
static bool makes_map(const struct checker *c, uint32_t i)
{
    static const char *const registers[] = {"gshare$map", "gshare$other"};

    for (unsigned k = 0; k < 2; k++)
        if (takes_parameter(c, i, registers[k]) || adds_offset(c, i, registers[k]) ||
            checker_reads(c, i, "cvta.param.u64 %s, %s;", registers[k], registers[k]))
            return true;
    return c->f->insts[i].op == PTX_OP_SETP ||
           checker_reads(c, i, "selp.b64 gshare$map, gshare$other, gshare$map, gshare$which;");
}

/* The operand of the instruction that is the address of its tensor map. */
static const struct ptx_operand *map_of(const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_CP_ASYNC_BULK_TENSOR:
        return &inst->ops[inst->ops[0].kind == PTX_OPND_MEM];
    case PTX_OP_PREFETCH:
        return inst->space == PTX_SPACE_GENERIC && !inst->ops[0].mem.offset ? &inst->ops[0] : NULL;
    case PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR:
    case PTX_OP_CP_ASYNC_BULK_PREFETCH_TENSOR:
        return &inst->ops[0];
    default:
        return NULL;
    }
}

const char *checker_map(const struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    const struct ptx_operand *map;

    if (ptx_op_class(inst->op) != PTX_CLASS_TENSOR && inst->mode != PTX_MODE_TENSORMAP)
        return mentions_map(c, inst) && !makes_map(c, i) ? "the address of a map is used otherwise"
                                                         : NULL;
    map = map_of(inst);
    if (!map || c->map == PTX_NO_REG || !checker_mentions(map, c->map))
        return "reads a tensor map from elsewhere";
    return is_made(c, i) ? NULL : "reads a tensor map that nobody has looked at";
}
