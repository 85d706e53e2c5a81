// The blocks of a cluster read, write and add to each other's shared memory, and wait for each other.
#include "show.h"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

enum { THREADS = 64, BINS = 32 };

/* Block 0 of each cluster has its neighbours' sums, in the order of their ranks. */
__global__ void __cluster_dims__(4, 2, 1) gather(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ int sums[8], own;

    if (threadIdx.x == 0)
        own = blockIdx.y * 100 + blockIdx.x;
    cluster.sync();
    if (threadIdx.x == 0)
        cluster.map_shared_rank(sums, 0)[cluster.block_rank()] = own;
    if (threadIdx.x >= 32)
        return; // those that have ended are not waited for
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x < 8)
        out[(blockIdx.y / 2 * (gridDim.x / 4) + blockIdx.x / 4) * 8 + threadIdx.x] = sums[threadIdx.x];
}

/* The bins lie in turn in the cluster's blocks. */
__global__ void __cluster_dims__(2, 1, 1) histogram(const int *in, int n, int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    extern __shared__ int bins[];

    for (int i = threadIdx.x; i < BINS / 2; i += THREADS)
        bins[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        atomicAdd(cluster.map_shared_rank(bins, in[i] % 2) + in[i] / 2, 1);
    cluster.sync();
    for (int i = threadIdx.x; i < BINS / 2; i += THREADS)
        atomicAdd(&out[i * 2 + cluster.block_rank()], bins[i]);
}

/* Each block sends its words to the other one, which waits for their bytes, by a copy. */
__global__ void __cluster_dims__(2, 1, 1) exchange(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ alignas(16) int mine[THREADS], theirs[THREADS];
    __shared__ uint64_t full;
    unsigned other = cluster.block_rank() ^ 1;

    mine[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(theirs));
    }
    ptx::fence_proxy_async(ptx::space_shared);
    cluster.sync();
    if (threadIdx.x == 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(theirs, other), mine,
                           sizeof(mine), cluster.map_shared_rank(&full, other));
    while (!ptx::mbarrier_try_wait_parity(&full, 0))
        ;
    out[blockIdx.x * THREADS + threadIdx.x] = theirs[threadIdx.x];
    cluster.sync();
}

/* What the machine tells of clusters, by addresses of 32 bits as assembly takes them. */
__global__ void __cluster_dims__(1, 2, 1) tell(unsigned *out)
{
    __shared__ unsigned word, seen;
    unsigned remote, rank, at = (unsigned)__cvta_generic_to_shared(&word);

    word = cg::this_cluster().block_rank() + 7;
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(at), "r"(blockIdx.y % 2 ^ 1));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(remote));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(remote) : "memory");
    out[blockIdx.y * 4] = rank;
    out[blockIdx.y * 4 + 1] = seen;
    out[blockIdx.y * 4 + 2] = cg::this_cluster().num_blocks() * 10 + cg::this_cluster().dim_blocks().y;
    out[blockIdx.y * 4 + 3] = cg::this_cluster().query_shared_rank(&word);
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

static void clusters_needed()
{
    int can = 0;

    MUST(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
    if (!can) {
        printf("no clusters\n");
        exit(77);
    }
}

int main()
{
    int *words, *in, host[256], values[1000], bad = 0;

    clusters_needed();
    MUST(cudaMalloc(&words, sizeof(host)));
    MUST(cudaMalloc(&in, sizeof(values)));

    gather<<<dim3(8, 4), THREADS>>>(words);
    MUST(cudaMemcpy(host, words, 32 * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < 32; i += 8)
        printf("cluster %d: %d %d %d %d %d %d %d %d\n", i / 8, host[i], host[i + 1], host[i + 2], host[i + 3],
               host[i + 4], host[i + 5], host[i + 6], host[i + 7]);
    //> cluster 0: 0 1 2 3 100 101 102 103
    //> cluster 1: 4 5 6 7 104 105 106 107
    //> cluster 2: 200 201 202 203 300 301 302 303
    //> cluster 3: 204 205 206 207 304 305 306 307

    for (int i = 0; i < 1000; i++)
        values[i] = i * i % BINS;
    MUST(cudaMemcpy(in, values, sizeof(values), cudaMemcpyDefault));
    MUST(cudaMemset(words, 0, BINS * sizeof(int)));
    histogram<<<6, THREADS, BINS / 2 * sizeof(int)>>>(in, 1000, words);
    MUST(cudaMemcpy(host, words, BINS * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < 1000; i++)
        host[values[i]]--;
    for (int i = 0; i < BINS; i++)
        bad += host[i] != 0;
    printf("wrong bins: %d\n", bad); //> wrong bins: 0

    exchange<<<4, THREADS>>>(words);
    MUST(cudaMemcpy(host, words, sizeof(host), cudaMemcpyDefault));
    for (int i = 0; i < 256; i++)
        bad += host[i] != (i / THREADS ^ 1) * 1000 + i % THREADS;
    printf("wrong words: %d\n", bad); //> wrong words: 0

    tell<<<dim3(1, 2), 32>>>((unsigned *)words);
    MUST(cudaMemcpy(host, words, 8 * sizeof(int), cudaMemcpyDefault));
    printf("%d %d %d %d, %d %d %d %d\n", host[0], host[1], host[2], host[3], host[4], host[5], host[6], host[7]);
    //> 1 8 22 0, 0 7 22 1
    return 0;
}
