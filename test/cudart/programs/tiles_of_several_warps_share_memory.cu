// Tiles of several warps synchronise, vote, reduce and scan by memory that the device reserves of each block; a program's
// own shared memory is not touched.
#include "show.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

enum { THREADS = 256, TILES = 3 };

template <unsigned Size, class Block> __device__ void tile_of(const Block &block, int value, int *out)
{
    auto tile = cg::tiled_partition<Size>(block);

    /* Each tile on its own, more often than there are barriers. */
    for (unsigned i = 0; i <= tile.meta_group_rank() * 7; i++)
        tile.sync();
    int sum = cg::reduce(tile, value, cg::plus<int>()), most = cg::reduce(tile, value, cg::greater<int>());
    int before = cg::exclusive_scan(tile, value);
    bool any = tile.any(value == 100), all = tile.all(value >= 0);
    out[0] = sum;
    out[1] = most;
    out[2] = before;
    out[3] = any * 2 + all + (tile.thread_rank() == threadIdx.x % Size) * 4;
}

__global__ void tiles(int *out, int *own)
{
    __shared__ cg::block_tile_memory<THREADS> memory;
    __shared__ int guard[THREADS];
    auto block = cg::this_thread_block(memory);
    int *mine = out + threadIdx.x * TILES * 4;

    guard[threadIdx.x] = threadIdx.x;
    tile_of<64>(block, threadIdx.x, mine);
    tile_of<128>(block, threadIdx.x, mine + 4);
    tile_of<256>(block, threadIdx.x, mine + 8);
    block.sync();
    own[threadIdx.x] = guard[THREADS - 1 - threadIdx.x];
}

int main()
{
    static int host[THREADS][TILES][4], own_host[THREADS];
    int *out, *own, wrong = 0, kept = 1;

    MUST(cudaMalloc(&out, sizeof(host)));
    MUST(cudaMalloc(&own, sizeof(own_host)));
    for (int round = 0; round < 2; round++) {
        tiles<<<round ? 40 : 1, THREADS>>>(out, own); /* blocks after each other in the same memory */
        SHOW(cudaDeviceSynchronize());                //> cudaDeviceSynchronize(): cudaSuccess
    }                                                 //> cudaDeviceSynchronize(): cudaSuccess
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(own_host, own, sizeof(own_host), cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) {
        kept &= own_host[t] == THREADS - 1 - t;
        for (int k = 0; k < TILES; k++) {
            int size = 64 << k, first = t / size * size, last = first + size - 1;

            wrong += host[t][k][0] != (first + last) * size / 2;
            wrong += host[t][k][1] != last;
            wrong += host[t][k][2] != (t - first) * (first + t - 1) / 2;
            wrong += host[t][k][3] != (first <= 100 && 100 <= last) * 2 + 1 + 4;
        }
    }
    HOLDS(wrong == 0); //> wrong == 0: yes
    HOLDS(kept);       //> kept: yes
}
