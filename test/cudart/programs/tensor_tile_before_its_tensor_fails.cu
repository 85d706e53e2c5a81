// A tile is not stored from before the beginning of its tensor, though it is loaded from there.
#include "tensor_map.h"

namespace ptx = cuda::ptx;

__global__ void load(const __grid_constant__ CUtensorMap map, bool *complete)
{
    __shared__ alignas(128) int tile[16];
    __shared__ uint64_t barrier;

    expect(&barrier, sizeof(tile));
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, {-4, -1}, &barrier);
    *complete = come(&barrier);
}

__global__ void store(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) int tile[16];

    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, {0, -1}, tile);
    finish();
}

int main()
{
    int *memory;
    bool *complete, host;

    MUST(cudaMalloc(&memory, 1024));
    MUST(cudaMalloc(&complete, sizeof(*complete)));
    const CUtensorMap map =
        map_of({CU_TENSOR_MAP_DATA_TYPE_INT32, 2, memory, {16, 16}, {64}, {8, 2}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_NONE});
    load<<<1, 1>>>(map, complete);
    MUST(cudaMemcpy(&host, complete, sizeof(host), cudaMemcpyDeviceToHost));
    HOLDS(host); //> host: yes
    store<<<1, 1>>>(map);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorIllegalInstruction
}
