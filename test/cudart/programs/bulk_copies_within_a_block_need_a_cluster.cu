// A bulk copy from shared memory to shared memory is a cluster's: of one block that the launch names, or it faults.
#include "show.h"
#include <cuda/ptx>

namespace ptx = cuda::ptx;

enum { THREADS = 32 };

__global__ void within(int *out)
{
    __shared__ alignas(16) int to[THREADS], from[THREADS];
    __shared__ uint64_t full;

    to[threadIdx.x] = -1;
    from[threadIdx.x] = threadIdx.x + 5;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(to));
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, to, from, sizeof(to), &full);
    while (!ptx::mbarrier_try_wait_parity(&full, 0))
        ;
    out[threadIdx.x] = to[threadIdx.x];
}

int main()
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    int *words, host[THREADS], can = 0;

    MUST(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
    if (!can)
        return 77;
    MUST(cudaMalloc(&words, sizeof(host)));
    config.gridDim = 1;
    config.blockDim = THREADS;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    MUST(cudaLaunchKernelEx(&config, within, words));
    MUST(cudaMemcpy(host, words, sizeof(host), cudaMemcpyDefault));
    printf("%d %d\n", host[0], host[31]); //> 5 36

    within<<<1, THREADS>>>(words);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorIllegalInstruction
    return 0;
}
