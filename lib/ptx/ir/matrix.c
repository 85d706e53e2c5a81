/* The shapes of the matrix instructions and how many registers of each matrix a lane holds.
 * Constants only; any thread. */
#include "ptx/ptx_table.h"

void ptx_shape_size(enum ptx_shape s, unsigned *m, unsigned *n, unsigned *k)
{
    static const uint8_t sizes[][2] = {
        [PTX_SHAPE_NONE] = {0, 0},       [PTX_SHAPE_M8N8] = {8, 8},
        [PTX_SHAPE_M16N8] = {16, 8},     [PTX_SHAPE_M8N16] = {8, 16},
        [PTX_SHAPE_M16N16] = {16, 16},   [PTX_SHAPE_M8N8K4] = {8, 8},
        [PTX_SHAPE_M8N8K16] = {8, 8},    [PTX_SHAPE_M8N8K32] = {8, 8},
        [PTX_SHAPE_M8N8K128] = {8, 8},   [PTX_SHAPE_M16N8K4] = {16, 8},
        [PTX_SHAPE_M16N8K8] = {16, 8},   [PTX_SHAPE_M16N8K16] = {16, 8},
        [PTX_SHAPE_M16N8K32] = {16, 8},  [PTX_SHAPE_M16N8K64] = {16, 8},
        [PTX_SHAPE_M16N8K128] = {16, 8}, [PTX_SHAPE_M16N8K256] = {16, 8},
        [PTX_SHAPE_M16N16K8] = {16, 16}, [PTX_SHAPE_M16N16K16] = {16, 16},
        [PTX_SHAPE_M8N32K16] = {8, 32},  [PTX_SHAPE_M32N8K16] = {32, 8},
    };
    static const uint16_t depths[] = {
        [PTX_SHAPE_M8N8K4] = 4,      [PTX_SHAPE_M8N8K16] = 16,    [PTX_SHAPE_M8N8K32] = 32,
        [PTX_SHAPE_M8N8K128] = 128,  [PTX_SHAPE_M16N8K4] = 4,     [PTX_SHAPE_M16N8K8] = 8,
        [PTX_SHAPE_M16N8K16] = 16,   [PTX_SHAPE_M16N8K32] = 32,   [PTX_SHAPE_M16N8K64] = 64,
        [PTX_SHAPE_M16N8K128] = 128, [PTX_SHAPE_M16N8K256] = 256, [PTX_SHAPE_M16N16K8] = 8,
        [PTX_SHAPE_M16N16K16] = 16,  [PTX_SHAPE_M8N32K16] = 16,   [PTX_SHAPE_M32N8K16] = 16,
    };

    if (s >= PTX_SHAPE_M64) {
        *m = 64;
        *n = (s - PTX_SHAPE_M64) / 4 * 8 + 8;
        *k = (s & 3) == 3 ? 256 : 8u << (s & 3);
        return;
    }
    *m = sizes[s][0];
    *n = sizes[s][1];
    *k = s < sizeof(depths) / sizeof(depths[0]) ? depths[s] : 0;
}

/* The type of a matrix, 'a' to 'd'. wmma.mma of f16 names the types of d and c only. */
static enum ptx_type matrix_type(const struct ptx_inst *inst, char matrix)
{
    if (inst->op == PTX_OP_WMMA_LOAD || inst->op == PTX_OP_WMMA_STORE)
        return inst->type[0];
    if (!inst->type[2])
        return matrix == 'd' ? inst->type[0] : matrix == 'c' ? inst->type[1] : PTX_T_F16;
    return matrix == 'd' ? inst->type[0] : inst->type[1 + matrix - 'a'];
}

/* A warp, or the four of wgmma, holds each element once, spread over its lanes and packed into
 * registers of 32 bits (64 for f64), but for two of the first generation's: wmma's f16 a and b,
 * held twice, and mma.m8n8k4 of f16, where each quarter of the warp works on a product of its own.
 */
unsigned ptx_matrix_regs(const struct ptx_inst *inst, char matrix)
{
    enum ptx_type type = matrix_type(inst, matrix);
    bool factor = matrix == 'a' || matrix == 'b';
    unsigned m, n, k, elements, bits = ptx_type_bits(type), lanes = 32;

    if (inst->op == PTX_OP_WGMMA)
        lanes *= 4;
    else if (type == PTX_T_F16 && factor && inst->op != PTX_OP_MMA)
        return 8;
    if (inst->op == PTX_OP_MMA && inst->shape == PTX_SHAPE_M8N8K4 && inst->type[1] == PTX_T_F16)
        return factor ? 2 : type == PTX_T_F16 ? 4 : 8;
    ptx_shape_size(inst->shape, &m, &n, &k);
    if (matrix == 'a' && ptx_sparse_chunk(inst))
        k /= 2;
    elements = (matrix == 'a' ? m * k : matrix == 'b' ? n * k : m * n) / lanes;
    return type == PTX_T_F64 ? elements : (elements * bits + 31) / 32;
}

/* Two of four elements are kept, which two bits each name. An element of tf32 counts as two, of
 * which both are kept; and two of four bits count as one. */
unsigned ptx_sparse_chunk(const struct ptx_inst *inst)
{
    unsigned bits = ptx_type_bits(inst->type[1]);

    if (inst->op != PTX_OP_MMA || !inst->mode2)
        return 0;
    return bits == 32 ? 2 : bits == 4 ? 8 : 4;
}

/* Four lanes have two rows of a, and a lane 32 bits. */
unsigned ptx_sparse_lanes(const struct ptx_inst *inst)
{
    unsigned m, n, k;

    ptx_shape_size(inst->shape, &m, &n, &k);
    return k / ptx_sparse_chunk(inst) * 4 * 2 / 32;
}
