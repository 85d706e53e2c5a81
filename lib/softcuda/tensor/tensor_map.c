// See tensor_map.h. The demands are those of cuTensorMapEncodeTiled's documentation (CUDA 13.0).
#include "softcuda/tensor/tensor_map.h"

#define MAGIC        0x70616d726f736e74u
#define STRIDE_LIMIT ((uint64_t)1 << 40)
#define DIM_LIMIT    ((uint64_t)1 << 32)
enum { BOX_MAX = 256, STEP_MAX = 8, GRAIN = 16 };

static bool is_float(uint32_t type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

static bool layout_valid(const struct tensor_map *map)
{
    const uint32_t inner = map->box[0] * tensor_element_bytes(map->type);
    const uint32_t align = map->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : GRAIN;

    if (map->interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
        map->swizzle > CU_TENSOR_MAP_SWIZZLE_128B || map->address % align)
        return false;
    for (uint32_t i = 0; i + 1 < map->rank; i++) {
        if (map->stride[i] % align || map->stride[i] >= STRIDE_LIMIT)
            return false;
    }
    if (map->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
        return map->rank >= 3 && (map->interleave != CU_TENSOR_MAP_INTERLEAVE_32B ||
                                  map->swizzle == CU_TENSOR_MAP_SWIZZLE_32B);
    return inner % GRAIN == 0 &&
           (map->swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || inner <= 16u << map->swizzle);
}

bool tensor_map_valid(const struct tensor_map *map)
{
    if (map->magic != MAGIC || map->rank == 0 || map->rank > CU_TENSOR_MAP_RANK_MAX ||
        tensor_element_bytes(map->type) == 0 ||
        map->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA ||
        (map->fill && !is_float(map->type)))
        return false;
    for (uint32_t i = 0; i < map->rank; i++) {
        if (map->box[i] == 0 || map->box[i] > BOX_MAX || map->step[i] == 0 ||
            map->step[i] > STEP_MAX)
            return false;
    }
    return layout_valid(map);
}

CUresult tensor_map_encode(struct tensor_map *map, const uint64_t *dims, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps)
{
    map->magic = MAGIC;
    for (uint32_t i = 0; i < map->rank; i++) {
        if (dims[i] == 0 || dims[i] > DIM_LIMIT || box[i] > BOX_MAX || steps[i] > STEP_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        map->last[i] = (uint32_t)(dims[i] - 1);
        map->box[i] = (uint16_t)box[i];
        map->step[i] = (uint8_t)steps[i];
        if (i > 0)
            map->stride[i - 1] = strides[i - 1];
    }
    return tensor_map_valid(map) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
