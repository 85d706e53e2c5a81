/* Tensor maps, which tensor copies may only take from the kernel's parameters.
 *
 * A map contains an address that no pass over a kernel can see, and memory that a kernel can write
 * might contain any map. A kernel's parameters can only be written by whoever launches the kernel,
 * who checks the maps in them (ptx_fence_report.maps). So right before an instruction that uses a
 * map, the map's address is computed again from the parameter, whatever the program's register
 * holds:
 *
 *     mov.b64 gshare$map, PARAMETER; add.s64 gshare$map, gshare$map, 128;
 *     cvta.param.u64 gshare$map, gshare$map;
 *
 * If the register may hold the address of one of several maps, this follows for each other map:
 *
 *     mov.b64 gshare$other, PARAMETER; add.s64 gshare$other, gshare$other, 256;
 *     setp.eq.s64 gshare$which, REGISTER, gshare$other; cvta.param.u64 gshare$other, gshare$other;
 *     selp.b64 gshare$map, gshare$other, gshare$map, gshare$which;
 *
 * The program's own cvta.param becomes a mov if its result is used for maps only. So the parameter
 * need not be copied (fence_frames.c), and the register can be compared as above.
 *
 * The pass runs before all others, on the tenant's own text. A map that it cannot trace to a
 * parameter is left as it is, and the fence refuses it. */
#include "ptx/rewrite/fence_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

enum {
    MOST_STEPS = 64,      /* steps back from a register to the parameters */
    MOST_SWEEPS = 16,     /* rounds over a function to find how registers are used */
    MOST_LOOKS = 1 << 23, /* definitions of registers that are examined, in a module */
};

/* A map's origin: an offset in a parameter. */
struct origin {
    const struct ptx_var *parameter;
    int64_t offset;
};

struct origins {
    struct origin all[FENCE_MAPS];
    unsigned count;
};

struct maps {
    struct fence fence;
    struct definition_sites definitions;
    bool *taken; /* for each instruction: its map comes from a parameter */
    bool *used;  /* for each register: it is used otherwise than for maps that are taken */
    uint32_t looks;
};

/* ---- For other parts ---- */

/* The operand of an instruction that is the generic address of a tensor map; NULL: it has none. */
static const struct ptx_operand *map_operand(const struct ptx_inst *inst)
{
    if (inst->op == PTX_OP_PREFETCH && inst->mode == PTX_MODE_TENSORMAP)
        return inst->space == PTX_SPACE_GENERIC ? &inst->ops[0] : NULL;
    if (ptx_op_class(inst->op) != PTX_CLASS_TENSOR || inst->op == PTX_OP_FENCE_PROXY_TENSORMAP)
        return NULL;
    return &inst->ops[inst->op == PTX_OP_CP_ASYNC_BULK_TENSOR && inst->space == PTX_SPACE_SHARED];
}

uint32_t fence_map_register(const struct ptx_inst *inst)
{
    const struct ptx_operand *o = map_operand(inst);

    if (o && o->kind == PTX_OPND_REG)
        return o->reg;
    return o && o->kind == PTX_OPND_MEM && o->mem.base == PTX_BASE_REG && !o->mem.offset
               ? o->mem.reg
               : PTX_NO_REG;
}

/* ---- Where a map is ---- */

/* Registers from which a map's address may have been computed, each with the bytes that were added
 * to it. */
struct search {
    struct {
        uint32_t reg;
        int64_t offset;
    } step[MOST_STEPS];
    unsigned count;
    struct origins *origins;
};

static bool search_add(struct search *search, uint32_t reg, int64_t offset)
{
    for (unsigned i = 0; i < search->count; i++)
        if (search->step[i].reg == reg && search->step[i].offset == offset)
            return true;
    if (search->count == MOST_STEPS)
        return false;
    search->step[search->count].reg = reg;
    search->step[search->count++].offset = offset;
    return true;
}

static bool origins_add(struct origins *origins, const struct ptx_var *parameter, int64_t offset)
{
    /* It is undocumented what the hardware does with a less aligned map: it might use one that
     * begins earlier than the one that is checked. */
    if (offset < 0 || (uint64_t)offset + FENCE_MAP_BYTES > parameter->size ||
        offset % FENCE_MAP_ALIGN || parameter->align < FENCE_MAP_ALIGN)
        return false;
    for (unsigned i = 0; i < origins->count; i++)
        if (origins->all[i].parameter == parameter && origins->all[i].offset == offset)
            return true;
    if (origins->count == FENCE_MAPS)
        return false;
    origins->all[origins->count++] = (struct origin){parameter, offset};
    return true;
}

/* Adds a source of an instruction's result. */
static bool source_add(const struct ptx_func *f, struct search *search, const struct ptx_operand *o,
                       int64_t offset)
{
    if (o->kind == PTX_OPND_REG)
        return search_add(search, o->reg, offset);
    return o->kind == PTX_OPND_SYM && o->sym.var->id < f->nparams &&
           f->params[o->sym.var->id] == o->sym.var &&
           origins_add(search->origins, o->sym.var, offset + o->sym.offset);
}

/* If the instruction's result is an address that one of its first COUNT sources holds, plus
 * *OFFSET, returns COUNT; otherwise 0. */
static unsigned carries(const struct ptx_func *f, const struct ptx_inst *inst, int64_t *offset)
{
    const struct ptx_operand *o = inst->ops;

    *offset = 0;
    if (!inst->nops || o[0].kind != PTX_OPND_REG || ptx_type_bits(inst->type[0]) != 64)
        return 0;
    switch (inst->op) {
    case PTX_OP_MOV:
        return 1;
    case PTX_OP_CVTA:
        return fence_makes_parameter_address(f, inst);
    case PTX_OP_SELP:
        return 2;
    case PTX_OP_ADD:
        *offset = (int64_t)o[2].imm;
        return fence_adds_addresses(inst) && o[2].kind == PTX_OPND_IMM;
    default:
        return 0;
    }
}

/* Finds the maps whose address the register may hold where it is used as a map's. False: it may
 * hold something else. */
static bool origins_of(struct maps *maps, uint32_t reg, struct origins *origins)
{
    const struct ptx_func *f = maps->fence.f;
    const struct definition_sites *definitions = &maps->definitions;
    struct search search = {.origins = origins};

    origins->count = 0;
    if (!search_add(&search, reg, 0))
        return false;
    for (unsigned i = 0; i < search.count; i++) {
        const uint32_t from = search.step[i].reg;

        if (definitions->first[from] == definitions->first[from + 1])
            return false;
        for (uint32_t k = definitions->first[from]; k < definitions->first[from + 1]; k++) {
            const struct ptx_inst *inst = &f->insts[definitions->insts[k]];
            int64_t offset;
            const unsigned sources = carries(f, inst, &offset);

            if (!sources || maps->looks++ >= MOST_LOOKS)
                return false;
            for (unsigned s = 1; s <= sources; s++)
                if (!source_add(f, &search, &inst->ops[s], search.step[i].offset + offset))
                    return false;
        }
    }
    /* A register that is used otherwise, too, may hold the address of a copy. */
    return origins->count == 1 || (origins->count && !maps->used[reg]);
}

/* ---- What registers are used for ---- */

static void use(bool *used, const struct ptx_operand *o, bool *changed)
{
    uint32_t reg = PTX_NO_REG;

    if (o->kind == PTX_OPND_REG)
        reg = o->reg;
    else if (o->kind == PTX_OPND_MEM && o->mem.base == PTX_BASE_REG)
        reg = o->mem.reg;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        use(used, &o->list[i], changed);
    if (reg == PTX_NO_REG || used[reg])
        return;
    used[reg] = *changed = true;
}

/* Marks the registers that an instruction uses otherwise: none if its result is used for maps only.
 * A value computed from such a register cannot be compared (origins_of), unless cvta made it. */
static void sweep(struct maps *maps, bool *changed)
{
    const struct ptx_func *f = maps->fence.f;

    for (uint32_t i = f->ninsts; i-- > 0;) {
        const struct ptx_inst *inst = &f->insts[i];
        const struct ptx_operand *map = maps->taken[i] ? map_operand(inst) : NULL;
        int64_t offset;
        const unsigned sources = carries(f, inst, &offset);
        bool any = !sources || maps->used[inst->ops[0].reg];

        for (unsigned s = 1; s <= sources && inst->op != PTX_OP_CVTA; s++)
            any |= inst->ops[s].kind == PTX_OPND_REG && maps->used[inst->ops[s].reg];
        for (unsigned k = 0; any && k < inst->nops; k++)
            if (&inst->ops[k] != map)
                use(maps->used, &inst->ops[k], changed);
    }
}

/* False: it takes too long. */
static bool find_used(struct maps *maps)
{
    bool changed = true;

    memset(maps->used, 0, maps->fence.f->nregs);
    for (unsigned n = 0; changed && n < MOST_SWEEPS; n++) {
        changed = false;
        sweep(maps, &changed);
    }
    return !changed;
}

/* Finds the instructions whose maps are in parameters. False: there are none. */
static bool find_taken(struct maps *maps)
{
    const struct ptx_func *f = maps->fence.f;

    for (uint32_t i = 0; i < f->ninsts; i++)
        maps->taken[i] = fence_map_register(&f->insts[i]) != PTX_NO_REG;
    for (unsigned n = 0; n < MOST_SWEEPS; n++) {
        bool any = false, fewer = false;

        for (uint32_t i = 0; i < f->ninsts; i++) {
            struct origins origins;

            if (!maps->taken[i])
                continue;
            maps->taken[i] = origins_of(maps, fence_map_register(&f->insts[i]), &origins);
            any |= maps->taken[i];
            fewer |= !maps->taken[i];
        }
        if (!any || (n && !fewer)) /* from the second round on, the uses are known */
            return any;
        if (!find_used(maps))
            return false;
    }
    return false;
}

/* ---- Edits ---- */

static void take_origin(struct fence *fence, const char *reg, const struct origin *origin)
{
    fence_before(fence, "mov.b64 %s, %s; add.s64 %s, %s, %lld; ", reg, origin->parameter->name, reg,
                 reg, (long long)origin->offset);
}

static void take_map(struct maps *maps)
{
    struct fence *fence = &maps->fence;
    const struct ptx_operand *map = map_operand(fence->inst);
    struct fence_span name;
    struct origins origins;

    if (!origins_of(maps, fence_map_register(fence->inst), &origins)) /* it takes too long */
        return;
    /* "[box], [map, {x, y}]": the box is not an operand of the map's. */
    fence_brackets(fence, (unsigned)(map - fence->inst->ops), &name);
    take_origin(fence, FENCE_MAP, &origins.all[0]);
    fence_before(fence, "cvta.param.u64 " FENCE_MAP ", " FENCE_MAP "; ");
    for (unsigned i = 1; i < origins.count; i++) {
        take_origin(fence, FENCE_OTHER_MAP, &origins.all[i]);
        fence_before(fence,
                     "setp.eq.s64 gshare$which, %.*s, " FENCE_OTHER_MAP
                     "; cvta.param.u64 " FENCE_OTHER_MAP ", " FENCE_OTHER_MAP
                     "; selp.b64 " FENCE_MAP ", " FENCE_OTHER_MAP ", " FENCE_MAP ", gshare$which; ",
                     (int)name.len, name.text);
    }
    fence_replace(fence, name, FENCE_MAP);
}

static void take_function(struct maps *maps)
{
    struct fence *fence = &maps->fence;
    const struct ptx_func *f = fence->f;

    edits_insert(&fence->edits, f->body_begin,
                 " .reg .b64 " FENCE_MAP ", " FENCE_OTHER_MAP "; .reg .pred gshare$which;");
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *inst = fence->inst = &f->insts[i];

        if (maps->taken[i])
            take_map(maps);
        else if (fence_makes_parameter_address(f, inst) && inst->ops[0].kind == PTX_OPND_REG &&
                 ptx_type_bits(inst->type[0]) == 64 && !maps->used[inst->ops[0].reg])
            fence_replace(fence, fence_opcode(fence), "mov.b64");
    }
}

/* ---- The pass ---- */

/* False: no memory. */
static bool run(struct maps *maps, const struct ptx_func *f, bool *any)
{
    bool has = false, good = true;

    for (uint32_t i = 0; f->entry && i < f->ninsts; i++)
        has |= fence_map_register(&f->insts[i]) != PTX_NO_REG;
    if (!has)
        return true;
    maps->fence.f = f;
    if (!definition_sites_init(&maps->definitions, f))
        return false;
    maps->taken = calloc((size_t)f->ninsts + 1, sizeof(*maps->taken));
    maps->used = calloc((size_t)f->nregs + 1, sizeof(*maps->used));
    good = maps->taken && maps->used;
    if (good && find_taken(maps)) {
        take_function(maps);
        *any = true;
    }
    free(maps->taken);
    free(maps->used);
    definition_sites_deinit(&maps->definitions);
    return good;
}

bool fence_maps_maybe(const char *text, size_t len)
{
    return memmem(text, len, ".tensor", strlen(".tensor")) != NULL;
}

int fence_maps(const char *text, size_t len, const struct ptx_module *m, char **out,
               size_t *out_len)
{
    struct maps maps = {.fence = {.text = text, .m = m, .edits.size = len}};
    struct edits *edits = &maps.fence.edits;
    bool any = false, good = true;
    int result = -ENOENT;

    *out = NULL;
    for (uint32_t i = 0; good && i < m->nfuncs; i++)
        good = run(&maps, m->funcs[i], &any);
    if (good && any && !edits->too_long && !edits->failed && edits_settle(edits)) {
        *out = edits_apply(edits, text, len, out_len);
        result = *out ? 0 : -ENOMEM;
    }
    if (!good || edits->failed)
        result = -ENOMEM;
    edits_deinit(edits);
    return result;
}
