// A bulk reduction adds shared memory to what lies in global memory, or in shared memory, element by element.
#include "show.h"
#include <cuda/ptx>

namespace ptx = cuda::ptx;

enum { THREADS = 64 };

template <typename T, typename Op>
__global__ void reduce(T *out, Op op)
{
    __shared__ alignas(16) T values[THREADS];

    values[threadIdx.x] = T(int(blockIdx.x * THREADS + threadIdx.x) - 10);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, op, out, values, sizeof(values));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

/* Within a block, which is a cluster: the barrier has the bytes once the sums are there. */
__global__ void __cluster_dims__(1, 1, 1) within(int *out)
{
    __shared__ alignas(16) int to[THREADS], from[THREADS];
    __shared__ uint64_t full;

    to[threadIdx.x] = 1000;
    from[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(to));
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        ptx::cp_reduce_async_bulk(ptx::space_cluster, ptx::space_shared, ptx::op_add, to, from, sizeof(to), &full);
    while (!ptx::mbarrier_try_wait_parity(&full, 0))
        ;
    out[threadIdx.x] = to[threadIdx.x];
}

template <typename T, typename Op>
static void show(const char *what, Op op, T first)
{
    T *out, host[THREADS];

    MUST(cudaMalloc(&out, sizeof(host)));
    for (T &word : host)
        word = first;
    MUST(cudaMemcpy(out, host, sizeof(host), cudaMemcpyDefault));
    reduce<<<3, THREADS>>>(out, op);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDefault));
    printf("%s: %g %g %g\n", what, (double)host[0], (double)host[1], (double)host[63]);
}

int main()
{
    int *words, host[THREADS];

    show("sums", ptx::op_add, 5);             //> sums: 167 170 356
    show("sums of floats", ptx::op_add, .5f); //> sums of floats: 162.5 165.5 351.5
    show("sums of doubles", ptx::op_add, .25); //> sums of doubles: 162.25 165.25 351.25
    show("least", ptx::op_min, 20);           //> least: -10 -9 20
    show("largest", ptx::op_max, (int64_t)20); //> largest: 118 119 181
    show("counts", ptx::op_inc, 3u);          //> counts: 6 6 6
    MUST(cudaMalloc(&words, sizeof(host)));
    within<<<1, THREADS>>>(words);
    MUST(cudaMemcpy(host, words, sizeof(host), cudaMemcpyDefault));
    printf("within: %d %d\n", host[0], host[63]); //> within: 1000 1063
}
