// One copy brings a tile into each block of the cluster that its mask names, at the same place, and completes the barrier there.
#include "tensor_map.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

enum { BLOCKS = 4, ROWS = 4, WORDS = 8, TILE = ROWS * WORDS };

/* Block 0 copies to blocks 0, 1 and 3 of its cluster, block 3 to blocks 0 and 2 what is to the right of it. */
__global__ void __cluster_dims__(BLOCKS, 1, 1) load(const __grid_constant__ CUtensorMap map, int *out)
{
    __shared__ alignas(128) int tiles[2][TILE];
    __shared__ uint64_t barrier;
    const unsigned rank = cg::this_cluster().block_rank();

    for (int i = threadIdx.x; i < 2 * TILE; i += blockDim.x)
        tiles[i / TILE][i % TILE] = -1;
    if (threadIdx.x == 0)
        expect(&barrier, rank == 0 ? sizeof(tiles) : sizeof(tiles[0]));
    ptx::fence_proxy_async(ptx::space_shared);
    cg::this_cluster().sync();
    if (threadIdx.x == 0 && rank == 0)
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tiles[0], &map, {0, (int)blockIdx.x}, &barrier,
                                  (uint16_t)0xb);
    if (threadIdx.x == 0 && rank == 3)
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tiles[1], &map, {WORDS, (int)blockIdx.x}, &barrier,
                                  (uint16_t)0x5);
    while (!ptx::mbarrier_try_wait_parity(&barrier, 0))
        ;
    for (int i = threadIdx.x; i < 2 * TILE; i += blockDim.x)
        out[blockIdx.x * 2 * TILE + i] = tiles[i / TILE][i % TILE];
    cg::this_cluster().sync();
}

/* What element I of a block's two tiles is: rows are 2 * WORDS apart. */
static int want(int block, int i)
{
    const bool second = i >= TILE, has = second ? block % 4 == 0 || block % 4 == 2 : block % 4 != 2;
    const int row = block / 4 * 4 + (second ? 3 : 0) + i % TILE / WORDS;

    return has ? row * 2 * WORDS + (second ? WORDS : 0) + i % WORDS : -1;
}

int main()
{
    enum { GRID = 2 * BLOCKS, HEIGHT = GRID + ROWS };
    int *in, *out, host[HEIGHT * 2 * WORDS], got[GRID * 2 * TILE], wrong = 0;

    for (int i = 0; i < HEIGHT * 2 * WORDS; i++)
        host[i] = i;
    MUST(cudaMalloc(&in, sizeof(host)));
    MUST(cudaMalloc(&out, sizeof(got)));
    MUST(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
    const CUtensorMap map = map_of({CU_TENSOR_MAP_DATA_TYPE_INT32, 2, in, {2 * WORDS, HEIGHT}, {2 * WORDS * sizeof(int)},
                                    {WORDS, ROWS}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_NONE});
    load<<<GRID, 32>>>(map, out);
    MUST(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    for (int i = 0; i < GRID * 2 * TILE; i++)
        wrong += got[i] != want(i / (2 * TILE), i % (2 * TILE));
    HOLDS(wrong == 0); //> wrong == 0: yes
}
