// A block that reaches for the shared memory of one of its cluster that has ended faults.
#include "show.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) reach(unsigned *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ unsigned word;
    unsigned seen = 0;

    word = cluster.block_rank() + 3;
    cluster.sync();
    if (cluster.block_rank() == 1)
        return;
    volatile unsigned *other = cluster.map_shared_rank(&word, 1);
    for (unsigned i = 0; i < 1u << 28; i++)
        seen += *other;
    *out = seen;
}

int main()
{
    unsigned *words;
    int can = 0;

    MUST(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
    if (!can)
        return 77;
    MUST(cudaMalloc(&words, 4));
    reach<<<2, 1>>>(words);
    HOLDS(cudaDeviceSynchronize() != cudaSuccess); //> cudaDeviceSynchronize() != cudaSuccess: yes
    return 0;
}
