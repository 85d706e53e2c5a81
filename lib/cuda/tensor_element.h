// The sizes of the elements that tensor maps know: see abi_tensor.h, which declares their types.
#ifndef GS_CUDA_TENSOR_ELEMENT_H
#define GS_CUDA_TENSOR_ELEMENT_H

#include <stdint.h>

#include "cuda/abi.h"

// The bytes of an element; 0: there is no such type, or it packs its elements.
static inline uint32_t tensor_element_bytes(uint32_t type)
{
    static const uint8_t bytes[] = {
        [CU_TENSOR_MAP_DATA_TYPE_UINT8] = 1,        [CU_TENSOR_MAP_DATA_TYPE_UINT16] = 2,
        [CU_TENSOR_MAP_DATA_TYPE_UINT32] = 4,       [CU_TENSOR_MAP_DATA_TYPE_INT32] = 4,
        [CU_TENSOR_MAP_DATA_TYPE_UINT64] = 8,       [CU_TENSOR_MAP_DATA_TYPE_INT64] = 8,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = 2,      [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = 4,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = 8,      [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = 2,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = 4,  [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = 4,
        [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = 4,
    };

    return type < sizeof(bytes) ? bytes[type] : 0;
}

#endif
