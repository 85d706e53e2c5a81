// Tiles in shared memory are added to tensors and compared with them, by the type that the map has and where the tensor is.
#include "tensor_map.h"
#include <cuda_fp16.h>

namespace ptx = cuda::ptx;

enum { TILE = 32, ROW = 48, PITCH = 64 }; /* elements */

template <typename T, typename OP> __global__ void reduce(const __grid_constant__ CUtensorMap map, OP op, T value)
{
    __shared__ alignas(128) T tile[TILE];

    for (int i = 0; i < TILE; i++)
        tile[i] = value;
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, op, &map, {ROW - TILE / 2, 1}, tile);
    finish();
}

static void *in;

/* By three blocks: the second half of the tile lies behind the row, of which it changes nothing. */
template <typename T, typename OP> static bool becomes(CUtensorMapDataType type, OP op, T was, T value, T want)
{
    T host[2 * PITCH];
    bool right = true;

    for (T &element : host)
        element = was;
    MUST(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
    const tensor rows = {type, 2, in, {ROW, 2}, {PITCH * sizeof(T)}, {TILE, 1}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_NONE};
    reduce<<<3, 1>>>(map_of(rows), op, value);
    MUST(cudaMemcpy(host, in, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 2 * PITCH; i++) {
        const bool inside = i >= PITCH + ROW - TILE / 2 && i < PITCH + ROW;

        right &= memcmp(&host[i], inside ? &want : &was, sizeof(T)) == 0;
    }
    return right;
}

int main()
{
    MUST(cudaMalloc(&in, 2 * PITCH * sizeof(double)));
    const bool sums = becomes<unsigned>(CU_TENSOR_MAP_DATA_TYPE_UINT32, ptx::op_add, 7, 0xfffffffe, 1);
    const bool least = becomes<int>(CU_TENSOR_MAP_DATA_TYPE_INT32, ptx::op_min, 7, -2, -2);
    const bool most = becomes<unsigned>(CU_TENSOR_MAP_DATA_TYPE_UINT32, ptx::op_max, 7, 0xfffffffe, 0xfffffffe);
    const bool up = becomes<unsigned>(CU_TENSOR_MAP_DATA_TYPE_UINT32, ptx::op_inc, 1, 3, 0);
    const bool down = becomes<unsigned>(CU_TENSOR_MAP_DATA_TYPE_UINT32, ptx::op_dec, 1, 9, 8);
    const bool both = becomes<int>(CU_TENSOR_MAP_DATA_TYPE_INT32, ptx::op_and_op, 12, 10, 8);
    const bool either = becomes<unsigned>(CU_TENSOR_MAP_DATA_TYPE_UINT32, ptx::op_or_op, 12, 10, 14);
    const bool one = becomes<unsigned long long>(CU_TENSOR_MAP_DATA_TYPE_UINT64, ptx::op_xor_op, 12, 10, 6);
    const bool wide = becomes<unsigned long long>(CU_TENSOR_MAP_DATA_TYPE_UINT64, ptx::op_add, 1, 1ull << 40, (3ull << 40) + 1);
    const bool floats = becomes<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, ptx::op_add, 1.5f, 0.25f, 2.25f);
    const bool halves =
        becomes<__half>(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, ptx::op_add, __half(1.5f), __half(0.25f), __half(2.25f));
    HOLDS(sums);   //> sums: yes
    HOLDS(least);  //> least: yes
    HOLDS(most);   //> most: yes
    HOLDS(up);     //> up: yes
    HOLDS(down);   //> down: yes
    HOLDS(both);   //> both: yes
    HOLDS(either); //> either: yes
    HOLDS(one);    //> one: yes
    HOLDS(wide);   //> wide: yes
    HOLDS(floats); //> floats: yes
    HOLDS(halves); //> halves: yes
}
