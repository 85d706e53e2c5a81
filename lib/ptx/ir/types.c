/* Facts about types, state spaces, special registers and kernels' parameters. Constants only; any
 * thread. */
#include <string.h>

#include "ptx/ptx_table.h"

enum { SIGNED = 1, FLOATING = 2 };

static const struct type_fact {
    const char *name;
    uint8_t bits, facts;
} types[PTX_T_COUNT] = {
    [PTX_T_NONE] = {"", 0, 0},
    [PTX_T_B8] = {"b8", 8, 0},
    [PTX_T_B16] = {"b16", 16, 0},
    [PTX_T_B32] = {"b32", 32, 0},
    [PTX_T_B64] = {"b64", 64, 0},
    [PTX_T_B128] = {"b128", 128, 0},
    [PTX_T_U8] = {"u8", 8, 0},
    [PTX_T_U16] = {"u16", 16, 0},
    [PTX_T_U32] = {"u32", 32, 0},
    [PTX_T_U64] = {"u64", 64, 0},
    [PTX_T_S8] = {"s8", 8, SIGNED},
    [PTX_T_S16] = {"s16", 16, SIGNED},
    [PTX_T_S32] = {"s32", 32, SIGNED},
    [PTX_T_S64] = {"s64", 64, SIGNED},
    [PTX_T_F16] = {"f16", 16, FLOATING},
    [PTX_T_F16X2] = {"f16x2", 32, FLOATING},
    [PTX_T_BF16] = {"bf16", 16, FLOATING},
    [PTX_T_BF16X2] = {"bf16x2", 32, FLOATING},
    [PTX_T_TF32] = {"tf32", 32, FLOATING},
    [PTX_T_F32] = {"f32", 32, FLOATING},
    [PTX_T_F64] = {"f64", 64, FLOATING},
    [PTX_T_F32X2] = {"f32x2", 64, FLOATING},
    [PTX_T_U16X2] = {"u16x2", 32, 0},
    [PTX_T_S16X2] = {"s16x2", 32, SIGNED},
    [PTX_T_PRED] = {"pred", 1, 0},
    [PTX_T_B1] = {"b1", 1, 0},
    [PTX_T_U4] = {"u4", 4, 0},
    [PTX_T_S4] = {"s4", 4, SIGNED},
    [PTX_T_U2] = {"u2", 2, 0},
    [PTX_T_S2] = {"s2", 2, SIGNED},
    [PTX_T_E4M3] = {"e4m3", 8, FLOATING},
    [PTX_T_E5M2] = {"e5m2", 8, FLOATING},
    [PTX_T_E4M3X2] = {"e4m3x2", 16, FLOATING},
    [PTX_T_E5M2X2] = {"e5m2x2", 16, FLOATING},
    [PTX_T_E2M1X2] = {"e2m1x2", 8, FLOATING},
    [PTX_T_E2M3X2] = {"e2m3x2", 16, FLOATING},
    [PTX_T_E3M2X2] = {"e3m2x2", 16, FLOATING},
    [PTX_T_UE8M0X2] = {"ue8m0x2", 16, FLOATING},
    [PTX_T_UE8M0] = {"ue8m0", 8, FLOATING},
    [PTX_T_TEXREF] = {"texref", 0, 0},
    [PTX_T_SAMPLERREF] = {"samplerref", 0, 0},
    [PTX_T_SURFREF] = {"surfref", 0, 0},
};

uint32_t ptx_param_bytes_max(const struct ptx_module *m)
{
    return m->sm >= 70 && m->version_major * 16u + m->version_minor >= 0x81 ? PTX_MAX_PARAM_BYTES
                                                                            : 4352;
}

unsigned ptx_type_bits(enum ptx_type t)
{
    return t < PTX_T_COUNT ? types[t].bits : 0;
}

bool ptx_type_is_signed(enum ptx_type t)
{
    return t < PTX_T_COUNT && types[t].facts & SIGNED;
}

bool ptx_type_is_float(enum ptx_type t)
{
    return t < PTX_T_COUNT && types[t].facts & FLOATING;
}

const char *ptx_type_name(enum ptx_type t)
{
    return t < PTX_T_COUNT ? types[t].name : "?";
}

enum ptx_type ptx_type_find(const char *word, size_t len)
{
    unsigned t;

    for (t = PTX_T_NONE + 1; t < PTX_T_COUNT; t++)
        if (types[t].name[0] == word[0] && strlen(types[t].name) == len &&
            !memcmp(types[t].name, word, len))
            return t;
    return PTX_T_NONE;
}

static const char *const spaces[PTX_SPACE_COUNT] = {
    [PTX_SPACE_GENERIC] = "generic",
    [PTX_SPACE_REG] = "reg",
    [PTX_SPACE_CONST] = "const",
    [PTX_SPACE_GLOBAL] = "global",
    [PTX_SPACE_LOCAL] = "local",
    [PTX_SPACE_PARAM] = "param",
    [PTX_SPACE_SHARED] = "shared",
    [PTX_SPACE_TEX] = "tex",
    [PTX_SPACE_PARAM_ENTRY] = "param::entry",
    [PTX_SPACE_PARAM_FUNC] = "param::func",
    [PTX_SPACE_SHARED_CLUSTER] = "shared::cluster",
};

const char *ptx_space_name(enum ptx_space s)
{
    return s < PTX_SPACE_COUNT ? spaces[s] : "?";
}

static const struct {
    const char *name;
    enum ptx_type type;
} sregs[PTX_SREG_COUNT] = {
    [PTX_SREG_NONE] = {"?", PTX_T_NONE},
#define PTX_SREG(id, name, type) [PTX_SREG_##id] = {name, PTX_T_##type},
#include "ptx/ir/ptx_sregs.def"
#undef PTX_SREG
};

const char *ptx_sreg_name(enum ptx_sreg s)
{
    return s < PTX_SREG_COUNT ? sregs[s].name : "?";
}

enum ptx_type ptx_sreg_type(enum ptx_sreg s)
{
    return s < PTX_SREG_COUNT ? sregs[s].type : PTX_T_NONE;
}
