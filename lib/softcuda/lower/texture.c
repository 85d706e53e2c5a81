// Texture and surface instructions in unified mode: the object is a 64-bit handle in a register.
// Unsupported variants are refused here by name.
#include <errno.h>

#include "softcuda/interp/texture.h"
#include "softcuda/lower/lower.h"

// The operands of tex, tld4: see ptx_ops.def.
enum { TEX_RESULT, TEX_PIPE, TEX_OBJECT, TEX_SAMPLER, TEX_PLACE, TEX_MORE };

static const struct ptx_operand *op(const struct lower *L, unsigned i)
{
    return &L->inst->ops[i];
}

static const struct ptx_operand *element(const struct ptx_operand *o, uint32_t i)
{
    return o->kind == PTX_OPND_VEC ? &o->list[i] : o;
}

static uint32_t elements(const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_VEC ? o->count : 1;
}

static uint32_t handle(struct lower *L, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_REG)
        return lower_src(L, o, 64);
    lower_fail(L, -ENOTSUP, "a texture or surface that is a variable: only objects are supported");
    return 0;
}

// Adds the coordinates; missing ones repeat the last.
static void add_coordinates(struct lower *L, const struct ptx_operand *o, uint32_t *words)
{
    for (uint32_t i = 0; i < 4; i++)
        words[TEXTURE_COORDINATE + i] =
            i < elements(o) ? lower_src(L, element(o, i), 32) : words[TEXTURE_COORDINATE + i - 1];
}

// Adds the level, or the gradients, behind the coordinates. A gradient has an element for each
// coordinate that is no layer; missing ones repeat the last.
static void add_level(struct lower *L, uint32_t *words)
{
    const struct ptx_inst *i = L->inst;

    for (unsigned k = TEXTURE_LEVEL; k < TEXTURE_WORDS; k++)
        words[k] = NO_OPERAND;
    if (i->mode == PTX_MODE_LEVEL)
        words[TEXTURE_LEVEL] = lower_src(L, op(L, TEX_MORE), 32);
    for (uint32_t k = 0; k < 6 && i->mode == PTX_MODE_GRAD; k++) {
        const struct ptx_operand *gradient = op(L, TEX_MORE + k / 3);
        uint32_t last = elements(gradient) - 1, at = k % 3;

        words[TEXTURE_GRADIENT + k] = lower_src(L, element(gradient, at < last ? at : last), 32);
    }
}

static bool multisampled(const struct ptx_inst *i)
{
    return i->geom == PTX_GEOM_2DMS || i->geom == PTX_GEOM_A2DMS;
}

static void lower_tex(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool gather = i->op == PTX_OP_TLD4;
    uint32_t words[TEXTURE_WORDS], aux;
    struct insn *in;

    if (op(L, TEX_SAMPLER)->kind != PTX_OPND_NONE) {
        lower_fail(L, -ENOTSUP, "a separate sampler");
        return;
    }
    // Behind the coordinates only the level and the gradients are allowed.
    unsigned named = i->mode == PTX_MODE_LEVEL ? 1 : i->mode == PTX_MODE_GRAD ? 2 : 0;
    for (unsigned k = TEX_MORE + named; k < i->nops; k++)
        if (op(L, k)->kind != PTX_OPND_NONE) {
            lower_fail(L, -ENOTSUP, "an offset or a depth to compare with");
            return;
        }
    if (multisampled(i) || (gather && i->geom != PTX_GEOM_2D && i->geom != PTX_GEOM_A2D)) {
        lower_fail(L, -ENOTSUP, "this geometry");
        return;
    }
    words[TEXTURE_HANDLE] = handle(L, op(L, TEX_OBJECT));
    words[TEXTURE_RESIDENT] =
        op(L, TEX_PIPE)->kind == PTX_OPND_NONE ? NO_OPERAND : lower_dst_pred(L, op(L, TEX_PIPE));
    add_coordinates(L, op(L, TEX_PLACE), words);
    add_level(L, words);
    for (uint32_t k = 0; k < 4; k++)
        words[TEXTURE_VALUE + k] =
            k < i->vec ? lower_dst(L, element(op(L, TEX_RESULT), k), 32) : words[TEXTURE_VALUE];
    aux = lower_aux(L, words, TEXTURE_WORDS);
    in = lower_emit(L, gather ? op_tld4 : op_tex);
    in->aux = aux;
    in->mode = i->geom;
    in->type = i->type[0];
    in->flags = i->type[1] == PTX_T_S32 ? INSN_SIGNED : 0;
    if (gather)
        in->target = i->mode - PTX_MODE_R;
}

static void lower_surface(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    bool store = i->op == PTX_OP_SUST;
    const struct ptx_operand *values = op(L, store ? 2 : 0);
    unsigned object = store ? 0 : 1;
    uint32_t words[TEXTURE_LEVEL], count = i->vec ? i->vec : 1, wide = 0, aux;
    struct insn *in;

    words[TEXTURE_HANDLE] = handle(L, op(L, object));
    words[TEXTURE_RESIDENT] = NO_OPERAND;
    add_coordinates(L, op(L, object + 1), words);
    if (count > 4 || elements(values) != count || ptx_type_bits((enum ptx_type)i->type[0]) > 64) {
        lower_fail(L, -EINVAL, "at most 4 values of 64 bits");
        return;
    }
    for (uint32_t k = 0; k < 4; k++) {
        const struct ptx_operand *o = element(values, k < count ? k : 0);
        unsigned have = lower_opnd_bits(L, o);

        if (have != 32 && have != 64)
            have = lower_type_bits((enum ptx_type)i->type[0]);
        if (k < count && have == 64)
            wide |= 1u << k;
        words[TEXTURE_VALUE + k] = k >= count ? words[TEXTURE_VALUE]
                                   : store    ? lower_src(L, o, have)
                                              : lower_dst(L, o, have);
    }
    aux = lower_aux(L, words, TEXTURE_LEVEL);
    in = lower_emit(L, store ? op_sust : op_suld);
    in->aux = aux;
    in->mode = i->geom;
    in->type = i->type[0];
    in->b = count;
    in->c = wide;
    in->target = i->mode;
}

static void lower_query(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    const struct ptx_mem *object = &op(L, 1)->mem;
    uint32_t level, d;
    struct insn *in;

    switch (i->mode) {
    case PTX_MODE_WIDTH:
    case PTX_MODE_HEIGHT:
    case PTX_MODE_DEPTH:
        break;
    case PTX_MODE_MIPMAP_LEVELS:
        if (i->op == PTX_OP_TXQ)
            break;
        // fall through
    default:
        lower_fail(L, -ENOTSUP, "this property");
        return;
    }
    if (object->base != PTX_BASE_REG) {
        lower_fail(L, -ENOTSUP, "a texture that is a variable");
        return;
    }
    if (lower_reg_bits(L, object->reg) != 64) {
        lower_fail(L, -EINVAL, "a handle has 64 bits");
        return;
    }
    level = i->mode2 == PTX_MODE_LEVEL ? lower_src(L, op(L, 2), 32) : NO_OPERAND;
    d = lower_dst(L, op(L, 0), 32);
    in = lower_emit(L, op_texture_query);
    in->b = level;
    in->a = L->slot[object->reg];
    in->d = d;
    in->target = i->mode;
    in->flags = i->op == PTX_OP_SUQ ? INSN_SURFACE : 0;
}

bool lower_texture(struct lower *L)
{
    switch (L->inst->op) {
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
        lower_tex(L);
        return true;
    case PTX_OP_SULD:
    case PTX_OP_SUST:
        lower_surface(L);
        return true;
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
        lower_query(L);
        return true;
    default:
        return false;
    }
}
