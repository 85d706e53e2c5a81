// A kernel tells whether it runs in clusters alone and of which size; what does not fit it is refused, each by its own error.
#include "show.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void plain(int *out)
{
    out[blockIdx.x] = cg::this_cluster().num_blocks();
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *out)
{
    out[blockIdx.x] = cg::this_cluster().num_blocks();
}

__global__ void __launch_bounds__(64) __cluster_dims__(4, 1, 1) fours(int *out)
{
    out[blockIdx.x] = cg::this_cluster().num_blocks();
}

static cudaLaunchConfig_t config;
static cudaLaunchAttribute attribute;

/* The attribute's effect on a configuration: clusters of so many blocks in x; 0: none are named. */
static cudaLaunchConfig_t *in(unsigned blocks)
{
    config.attrs = &attribute;
    config.numAttrs = blocks > 0;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    return &config;
}

static void tell(const void *kernel)
{
    cudaFuncAttributes a;

    MUST(cudaFuncGetAttributes(&a, kernel));
    printf("must be set %d, %d %d %d, beyond the portable %d, policy %d\n", a.clusterDimMustBeSet, a.requiredClusterWidth,
           a.requiredClusterHeight, a.requiredClusterDepth, a.nonPortableClusterSizeAllowed,
           a.clusterSchedulingPolicyPreference);
}

int main()
{
    int *words, can = 0, count = -1, size = -1;

    MUST(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
    if (!can) {
        printf("no clusters\n");
        return 77;
    }
    MUST(cudaMalloc(&words, 64));
    tell((const void *)plain); //> must be set 0, 0 0 0, beyond the portable 0, policy 0
    tell((const void *)pairs); //> must be set 1, 2 1 1, beyond the portable 0, policy 0

    MUST(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    MUST(cudaFuncSetAttribute(plain, cudaFuncAttributeClusterSchedulingPolicyPreference, cudaClusterSchedulingPolicySpread));
    tell((const void *)plain); //> must be set 0, 0 0 0, beyond the portable 1, policy 1
    MUST(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
    SHOW(cudaFuncSetAttribute(pairs, cudaFuncAttributeRequiredClusterWidth, 4)); //> cudaFuncSetAttribute(pairs, cudaFuncAttributeRequiredClusterWidth, 4): cudaErrorInvalidValue
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidValue
    SHOW(cudaFuncSetAttribute(pairs, cudaFuncAttributeRequiredClusterWidth, 2)); //> cudaFuncSetAttribute(pairs, cudaFuncAttributeRequiredClusterWidth, 2): cudaSuccess

    config.gridDim = 8;
    config.blockDim = 64;
    MUST(cudaOccupancyMaxPotentialClusterSize(&size, (void *)plain, in(0)));
    printf("%d\n", size); //> 8
    MUST(cudaOccupancyMaxPotentialClusterSize(&size, (void *)fours, in(4)));
    printf("%d\n", size); //> 8
    SHOW(cudaOccupancyMaxPotentialClusterSize(&size, (void *)fours, in(2))); //> cudaOccupancyMaxPotentialClusterSize(&size, (void *)fours, in(2)): cudaErrorInvalidClusterSize
    MUST(cudaOccupancyMaxActiveClusters(&count, (void *)pairs, in(0)));
    HOLDS(count > 0); //> count > 0: yes
    MUST(cudaOccupancyMaxActiveClusters(&count, (void *)pairs, in(2)));
    MUST(cudaOccupancyMaxActiveClusters(&count, (void *)plain, in(4)));
    MUST(cudaOccupancyMaxActiveClusters(&count, (void *)plain, in(0)));
    printf("%d\n", count); //> 0
    SHOW(cudaOccupancyMaxActiveClusters(&count, (void *)pairs, in(4))); //> cudaOccupancyMaxActiveClusters(&count, (void *)pairs, in(4)): cudaErrorInvalidClusterSize
    SHOW(cudaOccupancyMaxActiveClusters(&count, (void *)plain, in(16))); //> cudaOccupancyMaxActiveClusters(&count, (void *)plain, in(16)): cudaErrorInvalidClusterSize

    /* What is wrong besides the clusters has its own error. */
    SHOW(cudaLaunchKernelEx(in(4), pairs, words)); //> cudaLaunchKernelEx(in(4), pairs, words): cudaErrorInvalidClusterSize
    config.gridDim = 6;
    SHOW(cudaLaunchKernelEx(in(0), fours, words)); //> cudaLaunchKernelEx(in(0), fours, words): cudaErrorInvalidClusterSize
    config.gridDim = 0;
    SHOW(cudaLaunchKernelEx(in(2), plain, words)); //> cudaLaunchKernelEx(in(2), plain, words): cudaErrorInvalidValue
    config.gridDim = 8;
    config.blockDim = dim3(8, 8, 65);
    SHOW(cudaLaunchKernelEx(in(2), plain, words)); //> cudaLaunchKernelEx(in(2), plain, words): cudaErrorInvalidValue
    config.blockDim = dim3(1, 1, 65);
    SHOW(cudaLaunchKernelEx(in(2), plain, words)); //> cudaLaunchKernelEx(in(2), plain, words): cudaErrorInvalidValue
    config.blockDim = 128;
    SHOW(cudaLaunchKernelEx(in(4), fours, words)); //> cudaLaunchKernelEx(in(4), fours, words): cudaErrorInvalidValue
    config.blockDim = 64;
    config.dynamicSmemBytes = 1 << 20;
    SHOW(cudaLaunchKernelEx(in(2), plain, words)); //> cudaLaunchKernelEx(in(2), plain, words): cudaErrorInvalidValue
    config.dynamicSmemBytes = 0;
    cudaGetLastError();
    MUST(cudaLaunchKernelEx(in(4), fours, words));
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
}
