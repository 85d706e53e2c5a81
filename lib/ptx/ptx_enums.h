/* The words of PTX as small numbers: types, state spaces, modifiers, special registers, opcodes.
 * Zero always means "not written". The spellings are in types.c, ptx_slots.def, ptx_sregs.def and
 * ptx_ops.def. Constants only; no state, no thread. */
#ifndef GS_PTX_ENUMS_H
#define GS_PTX_ENUMS_H

enum ptx_type {
    PTX_T_NONE,
    PTX_T_B8,
    PTX_T_B16,
    PTX_T_B32,
    PTX_T_B64,
    PTX_T_B128,
    PTX_T_U8,
    PTX_T_U16,
    PTX_T_U32,
    PTX_T_U64,
    PTX_T_S8,
    PTX_T_S16,
    PTX_T_S32,
    PTX_T_S64,
    PTX_T_F16,
    PTX_T_F16X2,
    PTX_T_BF16,
    PTX_T_BF16X2,
    PTX_T_TF32,
    PTX_T_F32,
    PTX_T_F64,
    PTX_T_F32X2,
    PTX_T_U16X2,
    PTX_T_S16X2,
    PTX_T_PRED,
    PTX_T_B1,
    PTX_T_U4,
    PTX_T_S4, /* matrix elements */
    PTX_T_U2,
    PTX_T_S2, /* of cvt.pack alone */
    PTX_T_E4M3,
    PTX_T_E5M2,
    PTX_T_E4M3X2,
    PTX_T_E5M2X2, /* 8-bit floats */
    PTX_T_E2M1X2,
    PTX_T_E2M3X2,
    PTX_T_E3M2X2,
    PTX_T_UE8M0X2,
    PTX_T_UE8M0, /* read, never computed on */
    PTX_T_TEXREF,
    PTX_T_SAMPLERREF,
    PTX_T_SURFREF, /* opaque */
    PTX_T_COUNT
};

enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_REG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_SHARED, /* .shared and .shared::cta */
    PTX_SPACE_TEX,
    PTX_SPACE_PARAM_ENTRY, /* .param::entry, only in instructions */
    PTX_SPACE_PARAM_FUNC,
    PTX_SPACE_SHARED_CLUSTER, /* .shared::cluster, only in instructions */
    PTX_SPACE_COUNT
};

enum ptx_rnd {
    PTX_RND_NONE,
    PTX_RND_RN,
    PTX_RND_RZ,
    PTX_RND_RM,
    PTX_RND_RP,
    PTX_RND_RNA,
    PTX_RND_RS,
    PTX_RND_RNI,
    PTX_RND_RZI,
    PTX_RND_RMI,
    PTX_RND_RPI
};

enum ptx_cmp {
    PTX_CMP_NONE,
    PTX_CMP_EQ,
    PTX_CMP_NE,
    PTX_CMP_LT,
    PTX_CMP_LE,
    PTX_CMP_GT,
    PTX_CMP_GE,
    PTX_CMP_LO,
    PTX_CMP_LS,
    PTX_CMP_HI,
    PTX_CMP_HS, /* unsigned */
    PTX_CMP_EQU,
    PTX_CMP_NEU,
    PTX_CMP_LTU,
    PTX_CMP_LEU,
    PTX_CMP_GTU,
    PTX_CMP_GEU, /* true when either is NaN */
    PTX_CMP_NUM,
    PTX_CMP_NAN
};

enum ptx_bop { PTX_BOP_NONE, PTX_BOP_AND, PTX_BOP_OR, PTX_BOP_XOR, PTX_BOP_POPC };

enum ptx_aop {
    PTX_AOP_NONE,
    PTX_AOP_ADD,
    PTX_AOP_INC,
    PTX_AOP_DEC,
    PTX_AOP_MIN,
    PTX_AOP_MAX,
    PTX_AOP_AND,
    PTX_AOP_OR,
    PTX_AOP_XOR,
    PTX_AOP_EXCH,
    PTX_AOP_CAS
};

/* Words that choose what an instruction does; which ones may stand is the opcode's matter. */
enum ptx_mode {
    PTX_MODE_NONE,
    PTX_MODE_LO,
    PTX_MODE_HI,
    PTX_MODE_WIDE, /* mul, mad, dp2a, mul24, mad24 */
    PTX_MODE_LEFT,
    PTX_MODE_RIGHT, /* shf .l .r */
    PTX_MODE_CLAMP,
    PTX_MODE_WRAP, /* shf, bmsk, szext, vshl */
    PTX_MODE_F4E,
    PTX_MODE_B4E,
    PTX_MODE_RC8,
    PTX_MODE_ECL,
    PTX_MODE_ECR,
    PTX_MODE_RC16, /* prmt */
    PTX_MODE_UP,
    PTX_MODE_DOWN,
    PTX_MODE_BFLY,
    PTX_MODE_IDX, /* shfl */
    PTX_MODE_ALL,
    PTX_MODE_ANY,
    PTX_MODE_UNI,
    PTX_MODE_BALLOT, /* vote, match */
    PTX_MODE_FINITE,
    PTX_MODE_INFINITE,
    PTX_MODE_NUMBER,
    PTX_MODE_NOTANUMBER,
    PTX_MODE_NORMAL,
    PTX_MODE_SUBNORMAL, /* testp */
    PTX_MODE_TRAP,
    PTX_MODE_CLAMPED,
    PTX_MODE_ZERO, /* sust, suld: out of bounds */
    PTX_MODE_BYTES,
    PTX_MODE_PIXELS, /* suld.b, suld.p */
    PTX_MODE_R,
    PTX_MODE_G,
    PTX_MODE_B,
    PTX_MODE_A, /* tld4 component */
    PTX_MODE_LEVEL,
    PTX_MODE_GRAD,
    PTX_MODE_BASE, /* tex: how the mip level is found */
    PTX_MODE_L1,
    PTX_MODE_L2,
    PTX_MODE_L2_LAST,
    PTX_MODE_L2_NORMAL, /* prefetch: which cache */
    PTX_MODE_FRACTIONAL,
    PTX_MODE_RANGE, /* createpolicy */
    PTX_MODE_LAUNCH_DEPENDENTS,
    PTX_MODE_WAIT, /* griddepcontrol */
    PTX_MODE_MMA_XOR,
    PTX_MODE_MMA_AND, /* b1 mma */
    PTX_MODE_SPARSE,
    PTX_MODE_SPARSE_ORDERED, /* mma.sp, mma.sp::ordered_metadata */
    PTX_MODE_WMMA_A,
    PTX_MODE_WMMA_B,
    PTX_MODE_WMMA_C,
    PTX_MODE_WMMA_D, /* wmma.load, wmma.store */
    PTX_MODE_SHR7,
    PTX_MODE_SHR15,
    PTX_MODE_VADD,
    PTX_MODE_VMIN,
    PTX_MODE_VMAX, /* video: last operation */
    PTX_MODE_WIDTH,
    PTX_MODE_HEIGHT,
    PTX_MODE_DEPTH,
    PTX_MODE_CHANNEL_TYPE,
    PTX_MODE_CHANNEL_ORDER,
    PTX_MODE_NORMALIZED,
    PTX_MODE_FORCE_UNNORMALIZED,
    PTX_MODE_FILTER,
    PTX_MODE_ADDR0,
    PTX_MODE_ADDR1,
    PTX_MODE_ADDR2,
    PTX_MODE_ARRAY_SIZE,
    PTX_MODE_MIPMAP_LEVELS,
    PTX_MODE_SAMPLES,
    PTX_MODE_MEMORY_LAYOUT, /* txq, suq */
    PTX_MODE_TEXREF,
    PTX_MODE_SAMPLERREF,
    PTX_MODE_SURFREF, /* istypep */
    PTX_MODE_PROXY_ALIAS,
    PTX_MODE_PROXY_ASYNC,
    PTX_MODE_PROXY_ASYNC_GLOBAL,
    PTX_MODE_PROXY_ASYNC_SHARED, /* fence.proxy */
    PTX_MODE_INC,
    PTX_MODE_DEC, /* setmaxnreg */
    PTX_MODE_COMPLETE_TX,
    PTX_MODE_BULK_GROUP,
    PTX_MODE_READ, /* cp.async.bulk */
    PTX_MODE_TILE,
    PTX_MODE_TENSORMAP /* tensor copies; prefetch of a tensor map */
};

enum ptx_sem {
    PTX_SEM_NONE, /* weak by default; for atom, red: relaxed; for fence: acq_rel */
    PTX_SEM_WEAK,
    PTX_SEM_VOLATILE,
    PTX_SEM_RELAXED,
    PTX_SEM_ACQUIRE,
    PTX_SEM_RELEASE,
    PTX_SEM_ACQ_REL,
    PTX_SEM_SC,
    PTX_SEM_MMIO
};

enum ptx_scope { PTX_SCOPE_NONE, PTX_SCOPE_CTA, PTX_SCOPE_CLUSTER, PTX_SCOPE_GPU, PTX_SCOPE_SYS };

enum ptx_cop {
    PTX_COP_NONE,
    PTX_COP_CA,
    PTX_COP_CG,
    PTX_COP_CS,
    PTX_COP_LU,
    PTX_COP_CV,
    PTX_COP_WB,
    PTX_COP_WT
};

enum ptx_evict {
    PTX_EVICT_NONE,
    PTX_EVICT_NORMAL,
    PTX_EVICT_UNCHANGED,
    PTX_EVICT_FIRST,
    PTX_EVICT_LAST,
    PTX_EVICT_NO_ALLOCATE
};

enum ptx_prefetch { PTX_PREFETCH_NONE, PTX_PREFETCH_64B, PTX_PREFETCH_128B, PTX_PREFETCH_256B };

enum ptx_geom {
    PTX_GEOM_NONE,
    PTX_GEOM_1D,
    PTX_GEOM_2D,
    PTX_GEOM_3D,
    PTX_GEOM_A1D,
    PTX_GEOM_A2D,
    PTX_GEOM_CUBE,
    PTX_GEOM_ACUBE,
    PTX_GEOM_2DMS,
    PTX_GEOM_A2DMS
};

enum ptx_shape {
    PTX_SHAPE_NONE,
    PTX_SHAPE_M8N8,
    PTX_SHAPE_M16N8,
    PTX_SHAPE_M8N16,
    PTX_SHAPE_M16N16, /* ldmatrix, stmatrix, movmatrix */
    PTX_SHAPE_M8N8K4,
    PTX_SHAPE_M8N8K16,
    PTX_SHAPE_M8N8K32,
    PTX_SHAPE_M8N8K128,
    PTX_SHAPE_M16N8K4,
    PTX_SHAPE_M16N8K8,
    PTX_SHAPE_M16N8K16,
    PTX_SHAPE_M16N8K32,
    PTX_SHAPE_M16N8K64,
    PTX_SHAPE_M16N8K128,
    PTX_SHAPE_M16N8K256,
    PTX_SHAPE_M16N16K8,
    PTX_SHAPE_M16N16K16,
    PTX_SHAPE_M8N32K16,
    PTX_SHAPE_M32N8K16, /* wmma */
    /* wgmma has 64 rows: from here on four for each count of columns, 8, 16 .. 256, of which the
     * depths are 8, 16, 32 and 256. */
    PTX_SHAPE_M64 = 128
};

enum ptx_layout { PTX_LAYOUT_NONE, PTX_LAYOUT_ROW, PTX_LAYOUT_COL };

/* Which part of a register a video instruction takes: one byte or half; or a choice of digits as
 * .b7430 and .h32, the first written being the most significant, three bits each; or for the
 * destination bytes as .b20, bit i for byte i (two or three of them: one is PTX_SEL_B0.., all four
 * are PTX_SEL_BYTES). */
enum ptx_sel {
    PTX_SEL_NONE,
    PTX_SEL_B0,
    PTX_SEL_B1,
    PTX_SEL_B2,
    PTX_SEL_B3,
    PTX_SEL_H0,
    PTX_SEL_H1,
    PTX_SEL_MASK = 0x2000,
    PTX_SEL_HALVES = 0x4000,
    PTX_SEL_BYTES = 0x8000
};

/* ptx_inst.flags */
#define PTX_F_FTZ (1u << 0)
#define PTX_F_SAT (1u << 1) /* .sat */
#define PTX_F_CC                                                                                   \
    (1u << 2) /* add.cc, madc.lo.cc: writes the carry; addc, subc, madc always read it */
#define PTX_F_UNI        (1u << 3) /* bra.uni, call.uni, ret.uni */
#define PTX_F_APPROX     (1u << 4) /* .approx */
#define PTX_F_FULL       (1u << 5) /* div.full */
#define PTX_F_NAN        (1u << 6) /* min.NaN, max.NaN */
#define PTX_F_XORSIGN    (1u << 7) /* min.xorsign.abs */
#define PTX_F_ABS        (1u << 8) /* .abs of redux and min/max */
#define PTX_F_RELU       (1u << 9)
#define PTX_F_OOB        (1u << 10) /* fma.oob */
#define PTX_F_SATFINITE  (1u << 11)
#define PTX_F_SYNC       (1u << 12) /* shfl.sync, vote.sync: the last operand is the member mask */
#define PTX_F_ALIGNED    (1u << 13)
#define PTX_F_NC         (1u << 14) /* ld.global.nc */
#define PTX_F_CACHE_HINT (1u << 15) /* .L2::cache_hint: a policy operand follows */
#define PTX_F_TO         (1u << 16) /* cvta.to: generic to the space */
#define PTX_F_SHIFTAMT   (1u << 17) /* bfind.shiftamt, fns */
#define PTX_F_NOINC      (1u << 18) /* cp.async.mbarrier.arrive.noinc */
#define PTX_F_TRANS      (1u << 19) /* ldmatrix, stmatrix */
#define PTX_F_MULTICAST  (1u << 20) /* .multicast::cluster: a mask of blocks follows */
#define PTX_F_NOFTZ      (1u << 21) /* red.add.noftz.f16 */
#define PTX_F_PO         (1u << 22) /* vmad .po: plus one */
#define PTX_F_MASK       (1u << 24) /* pmevent.mask */
#define PTX_F_NEG_A      (1u << 25) /* vmad: operand written -a */
#define PTX_F_NEG_B      (1u << 26)
#define PTX_F_NEG_C      (1u << 27)
#define PTX_F_PARITY     (1u << 28) /* mbarrier.test_wait.parity */
#define PTX_F_NOCOMPLETE (1u << 29) /* mbarrier.arrive.noComplete */
#define PTX_F_EXPECT_TX  (1u << 30) /* mbarrier.arrive.expect_tx */

enum ptx_sreg {
    PTX_SREG_NONE,
#define PTX_SREG(id, name, type) PTX_SREG_##id,
#include "ptx/ir/ptx_sregs.def"
#undef PTX_SREG
    PTX_SREG_COUNT
};

/* What kind of thing an opcode does: for passes that treat whole families alike. */
enum ptx_class {
    PTX_CLASS_ARITH, /* registers to registers, no other effect */
    PTX_CLASS_LOAD,
    PTX_CLASS_STORE,
    PTX_CLASS_ATOM,     /* atom, red */
    PTX_CLASS_ASYNC,    /* cp.async, bulk copies and reductions: read and write memory */
    PTX_CLASS_TENSOR,   /* reads a tensor map, and copies where that says */
    PTX_CLASS_MBARRIER, /* on an mbarrier object in memory */
    PTX_CLASS_MATRIX_LOAD,
    PTX_CLASS_MATRIX_STORE,
    PTX_CLASS_CACHE, /* prefetch, discard, applypriority: names an address, discard may destroy what
                        is there */
    PTX_CLASS_TEX,
    PTX_CLASS_SURF,
    PTX_CLASS_BRANCH, /* bra, brx */
    PTX_CLASS_CALL,
    PTX_CLASS_END,     /* ret, exit, trap */
    PTX_CLASS_BARRIER, /* bar, barrier */
    PTX_CLASS_WARP,    /* shfl, vote, match, redux, activemask, elect, bar.warp */
    PTX_CLASS_FENCE,   /* membar, fence */
    PTX_CLASS_MATRIX,  /* mma, wmma.mma */
    PTX_CLASS_WGMMA,   /* wgmma: reads matrices of shared memory that descriptors name */
    PTX_CLASS_STACK,   /* alloca, stacksave, stackrestore */
    PTX_CLASS_MISC,    /* nanosleep, pmevent, brkpt ... */
    PTX_CLASS_REFUSED  /* known by name, left out */
};

enum ptx_op {
    PTX_OP_NONE,
#define PTX_OP(id, name, class) PTX_OP_##id,
#define PTX_FORM(id, ...)
#include "ptx/ir/ptx_ops.def"
#undef PTX_OP
#undef PTX_FORM
    PTX_OP_COUNT
};

#endif
