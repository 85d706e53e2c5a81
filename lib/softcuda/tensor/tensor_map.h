// The software device's tensor map: the arguments of cuTensorMapEncodeTiled, in 128 bytes that only
// this device reads. Programs pass it to kernels by value, so it contains no pointer into the
// device, and every reader checks it first.
#ifndef GS_SOFTCUDA_TENSOR_TENSOR_MAP_H
#define GS_SOFTCUDA_TENSOR_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "cuda/tensor_element.h"

struct tensor_map {
    uint64_t magic;
    uint64_t address;
    uint64_t stride[CU_TENSOR_MAP_RANK_MAX - 1]; // bytes; of dimension I + 1
    uint32_t last[CU_TENSOR_MAP_RANK_MAX];       // elements of a dimension, less 1
    uint16_t box[CU_TENSOR_MAP_RANK_MAX];        // elements, 1 to 256
    uint8_t step[CU_TENSOR_MAP_RANK_MAX];        // the box has each step-th element, 1 to 8
    uint8_t rank, type, interleave, swizzle, fill;
    uint8_t unused[40];
};
_Static_assert(sizeof(struct tensor_map) == sizeof(CUtensorMap), "tensor_map");

// Whether tensor_map_encode has made the map, or could have.
bool tensor_map_valid(const struct tensor_map *map);
// Returns CUDA_ERROR_INVALID_VALUE where the arguments are not what the driver's documentation
// demands.
CUresult tensor_map_encode(struct tensor_map *map, const uint64_t *dims, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps);

#endif
