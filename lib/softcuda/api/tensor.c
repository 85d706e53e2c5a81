// Driver calls that describe tensors to kernels.
#include <string.h>

#include "softcuda/api/api.h"
#include "softcuda/context/context.h"
#include "softcuda/tensor/tensor_map.h"

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                void *address, const uint64_t *dims, const uint64_t *strides,
                                const uint32_t *box, const uint32_t *element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    struct tensor_map made = {.address = (uint64_t)(uintptr_t)address,
                              .rank = (uint8_t)rank,
                              .type = (uint8_t)type,
                              .interleave = (uint8_t)interleave,
                              .swizzle = (uint8_t)swizzle,
                              .fill = (uint8_t)fill};
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (!map || !dims || !box || !element_strides || rank == 0 || rank > CU_TENSOR_MAP_RANK_MAX ||
        (rank > 1 && !strides) || type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ ||
        interleave > CU_TENSOR_MAP_INTERLEAVE_32B || swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
        promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return CUDA_ERROR_INVALID_VALUE;
    result = tensor_map_encode(&made, dims, strides, box, element_strides);
    if (!result)
        memcpy(map, &made, sizeof(made));
    return result;
}
