/* What the fence does with each instruction, by opcode or class; see fence_pass.c. */
#include <string.h>

#include "ptx/ir/arena.h"
#include "ptx/rewrite/fence.h"

/* Whether another pass added the access to the tenant's function; its address is the server's
 * (completion_exits.c). */
static bool is_added(const struct fence *fence, const struct ptx_mem *mem)
{
    return mem->base == PTX_BASE_REG && fence_is_added_register(fence->f, mem->reg);
}

/* Instructions that can only address shared memory: they must say .shared. Without it, it is
 * undocumented what the hardware makes of a generic address that is not shared. */
static bool take_shared(struct fence *fence)
{
    if (fence->inst->space == PTX_SPACE_SHARED || fence->inst->space == PTX_SPACE_SHARED_CLUSTER)
        return true;
    return fence_refuse(fence, fence->inst->line, "%s: without .shared",
                        ptx_op_name(fence->inst->op));
}

static unsigned address_operand(const struct ptx_inst *inst)
{
    for (unsigned i = 0; i < inst->nops; i++)
        if (inst->ops[i].kind == PTX_OPND_MEM)
            return i;
    return inst->nops;
}

/* ldmatrix and stmatrix, whose rows can only lie in shared memory. With a generic address they get
 * .shared, before the type, and the address in that space, so that they reach no other memory. */
static bool take_matrix_rows(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    const struct ptx_mem *mem = &inst->ops[address_operand(inst)].mem;
    struct fence_span name, brackets, opcode;
    size_t type;

    if (inst->space != PTX_SPACE_GENERIC || mem->base != PTX_BASE_REG ||
        ptx_type_bits(fence->f->regs[mem->reg].type) != 64)
        return take_shared(fence);
    brackets = fence_brackets(fence, 0, &name);
    opcode = fence_opcode(fence);
    for (type = opcode.len; type && opcode.text[type] != '.';)
        type--;
    if (!brackets.len || !name.len || !type)
        return fence_refuse(fence, inst->line, "%s: an address in an unknown form",
                            ptx_op_name(inst->op));
    fence_before(fence, "cvta.to.shared.u64 gshare$at, %.*s; ", (int)name.len, name.text);
    edits_insert(&fence->edits, (size_t)(opcode.text + type - fence->text), ".shared");
    fence_replace(fence, brackets,
                  edits_text(&fence->edits, "[gshare$at+%lld]", (long long)mem->offset));
    return true;
}

static bool take_access(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    unsigned operand = address_operand(inst);
    const struct ptx_mem *mem = operand < inst->nops ? &inst->ops[operand].mem : NULL;
    bool generic = inst->space == PTX_SPACE_GENERIC;

    if (!mem)
        return fence_refuse(fence, inst->line, "%s: no address", ptx_op_name(inst->op));
    fence_stack(fence, mem, fence_access_bytes(inst));
    switch (inst->space) {
    case PTX_SPACE_CONST:
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return true;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
    case PTX_SPACE_PARAM_FUNC:
        return fence_param(fence, mem, fence_access_bytes(inst));
    case PTX_SPACE_GENERIC:
    case PTX_SPACE_GLOBAL:
        break;
    default:
        return fence_refuse(fence, inst->line, "%s: state space .%s", ptx_op_name(inst->op),
                            ptx_space_name(inst->space));
    }
    if ((!generic && fence_is_gshare_function(fence->f)) || is_added(fence, mem))
        return true;
    /* If the operand names a variable, ptxas uses the variable's space. */
    if (mem->base == PTX_BASE_VAR && mem->var->space == PTX_SPACE_PARAM)
        return fence_param(fence, mem, fence_access_bytes(inst));
    if (mem->base == PTX_BASE_VAR && mem->var->space != PTX_SPACE_GLOBAL)
        return true;
    if (inst->op == PTX_OP_WMMA_LOAD || inst->op == PTX_OP_WMMA_STORE)
        return fence_matrix(fence, generic);
    return fence_access(fence, operand, generic, fence_access_bytes(inst));
}

/* "enable_smem_spilling", for one, would put registers where stores to shared memory reach them.
 * The checker has a list of its own, on purpose. */
bool fence_pragma_is_harmless(const char *text)
{
    static const char mask[] = "\"used_bytes_mask ", digits[] = "0123456789abcdefABCDEFx";

    return !strcmp(text, "\"nounroll\"") ||
           (!strncmp(text, mask, sizeof(mask) - 1) &&
            !strcmp(text + sizeof(mask) - 1 + strspn(text + sizeof(mask) - 1, digits), "\""));
}

/* Adds a map in the parameters of the current kernel to the report, which has room for every kernel
 * of the module. */
static bool report_map(struct fence *fence, uint32_t parameter, uint32_t offset)
{
    struct ptx_fence_report *report = fence->report;
    const struct ptx_func *f = fence->f;
    struct ptx_fence_maps *maps = (struct ptx_fence_maps *)report->maps;

    if (!maps)
        report->maps = maps = arena_alloc(report->memory, sizeof(*maps) * fence->m->nfuncs);
    if (!maps)
        return false;
    if (!report->nmaps || maps[report->nmaps - 1].of != f->id) {
        maps[report->nmaps] = (struct ptx_fence_maps){
            arena_string(report->memory, f->name, strlen(f->name)), .of = f->id};
        if (!maps[report->nmaps++].name)
            return false;
    }
    maps += report->nmaps - 1;
    for (uint32_t i = 0; i < maps->count; i++) {
        const uint32_t other = maps->map[i].offset;

        if (maps->map[i].parameter != parameter)
            continue;
        if (other == offset)
            return true;
        if (other < offset + FENCE_MAP_BYTES && offset < other + FENCE_MAP_BYTES)
            return fence_refuse(fence, fence->inst->line, "tensor maps that overlap in %.80s",
                                f->name);
    }
    if (maps->count == FENCE_MAPS)
        return fence_refuse(fence, fence->inst->line, "more than %u tensor maps in %.80s",
                            FENCE_MAPS, f->name);
    maps->map[maps->count].parameter = parameter;
    maps->map[maps->count++].offset = offset;
    return true;
}

/* Records the parameter from which the map's address was taken right before the current instruction
 * (fence_maps.c). */
static bool take_tensor_map(struct fence *fence)
{
    const uint32_t map = fence->map;
    const struct ptx_func *f = fence->f;
    const struct ptx_inst *inst = fence->inst;
    bool first = false;

    if (map == PTX_NO_REG || fence_map_register(inst) != map)
        return fence_refuse(fence, inst->line,
                            "%s: a tensor map that is not among the kernel's parameters",
                            ptx_op_name(inst->op));
    while (!first && inst-- > f->insts) {
        const struct ptx_operand *o = inst->ops;
        const struct ptx_var *v = o[1].kind == PTX_OPND_SYM ? o[1].sym.var : NULL;

        if (inst->op != PTX_OP_MOV)
            continue;
        if (!v || v->id >= f->nparams || f->params[v->id] != v)
            return fence_refuse(fence, fence->inst->line,
                                "%s: a scope has the name of the parameter with the tensor map",
                                ptx_op_name(fence->inst->op));
        first = o[0].reg == map;
        if (!report_map(fence, v->id, (uint32_t)inst[1].ops[2].imm))
            return false;
    }
    return true;
}

/* Only fence_maps.c may make addresses of maps. */
static bool take_cvta(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    const bool parameter = inst->space == PTX_SPACE_PARAM || inst->space == PTX_SPACE_PARAM_ENTRY ||
                           inst->space == PTX_SPACE_PARAM_FUNC;

    return inst->flags & PTX_F_TO || !parameter ||
           (inst->ops[0].kind == PTX_OPND_REG &&
            fence_is_added_register(fence->f, inst->ops[0].reg)) ||
           fence_refuse(
               fence, inst->line,
               "cvta: a generic address of a parameter other than a tensor map, or of maps "
               "among which an index chooses: it leads behind the parameter");
}

static bool take_by_class(struct fence *fence);

/* Begins with the opcodes that are handled differently from their class. */
bool fence_instruction(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;

    switch (inst->op) {
    /* discard drops lines of the L2 cache without writing them back, so that later loads see what
     * DRAM held before: in memory that was zeroed, the data of its former user. A bulk prefetch
     * reaches as far as the program says. The program stays correct without either. */
    case PTX_OP_DISCARD:
    case PTX_OP_CP_ASYNC_BULK_PREFETCH:
        fence_remove(fence);
        return true;
    case PTX_OP_PREFETCH:
        if (inst->mode != PTX_MODE_TENSORMAP)
            return take_by_class(fence);
        if (fence_map_register(inst) == PTX_NO_REG || fence_map_register(inst) != fence->map) {
            fence_remove(fence);
            return true;
        }
        return take_tensor_map(fence);
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
        return fence_refuse(fence, inst->line, "%s: ends the work of others too",
                            ptx_op_name(inst->op));
    case PTX_OP_CVTA:
        return take_cvta(fence);
    case PTX_OP_CP_ASYNC:
        return take_shared(fence) && fence_access(fence, 1, false, 16);
    case PTX_OP_CP_ASYNC_BULK:
    case PTX_OP_CP_REDUCE_ASYNC_BULK:
        return fence_bulk(fence);
    case PTX_OP_CREATEPOLICY:
        return inst->mode != PTX_MODE_RANGE || take_access(fence);
    case PTX_OP_CALL:
        return fence_call(fence);
    case PTX_OP_BRX_IDX:
        return fence_brx(fence);
    case PTX_OP_PRAGMA:
        if (!fence_pragma_is_harmless(inst->ops[0].string))
            fence_remove(fence);
        return true;
    case PTX_OP_CP_ASYNC_BULK_COMMIT:
    case PTX_OP_CP_ASYNC_BULK_WAIT:
    case PTX_OP_CP_ASYNC_COMMIT:
    case PTX_OP_CP_ASYNC_WAIT:
    case PTX_OP_CP_ASYNC_WAIT_ALL:
        return true;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        return take_matrix_rows(fence);
    default:
        return take_by_class(fence);
    }
}

static bool take_by_class(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;

    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_LOAD:
    case PTX_CLASS_STORE:
    case PTX_CLASS_ATOM:
    case PTX_CLASS_CACHE:
    case PTX_CLASS_MATRIX_LOAD:
    case PTX_CLASS_MATRIX_STORE:
        return take_access(fence);
    case PTX_CLASS_MBARRIER:
        return take_shared(fence);
    case PTX_CLASS_ARITH:
    case PTX_CLASS_BRANCH:
    case PTX_CLASS_END:
    case PTX_CLASS_BARRIER:
    case PTX_CLASS_WARP:
    case PTX_CLASS_FENCE:
    case PTX_CLASS_MATRIX:
    case PTX_CLASS_MISC:
        return address_operand(inst) == inst->nops ||
               fence_refuse(fence, inst->line, "%s: an address", ptx_op_name(inst->op));
    case PTX_CLASS_TEX:
    case PTX_CLASS_SURF:
        return fence_texture(fence);
    case PTX_CLASS_TENSOR:
        return take_tensor_map(fence);
    case PTX_CLASS_WGMMA: /* the hardware bounds the memory that a descriptor names (driver fact 47)
                           */
        return true;
    case PTX_CLASS_STACK:
        return fence_refuse(fence, inst->line, "%s: the stack would be wherever the program says",
                            ptx_op_name(inst->op));
    default:
        return fence_refuse(fence, inst->line, "%s: not known to the fence", ptx_op_name(inst->op));
    }
}
