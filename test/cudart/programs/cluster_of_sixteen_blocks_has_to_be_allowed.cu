// Clusters of more than eight blocks run where the device has room for them and the kernel is allowed them.
#include "show.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/* Each block reads what the one at the other end of the cluster has. */
__global__ void ends(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ int rank;

    rank = cluster.block_rank();
    cluster.sync();
    out[blockIdx.x] = *cluster.map_shared_rank(&rank, cluster.num_blocks() - 1 - rank);
    cluster.sync();
}

__global__ void __cluster_dims__(16, 1, 1) own(int *out)
{
    out[blockIdx.x] = cg::this_cluster().num_blocks();
}

static void show(const int *words)
{
    int host[32];

    MUST(cudaMemcpy(host, words, sizeof(host), cudaMemcpyDefault));
    printf("%d %d %d %d\n", host[0], host[15], host[16], host[20]);
}

int main()
{
    cudaLaunchConfig_t config = {}, none = {};
    cudaLaunchAttribute attribute = {};
    cudaFuncAttributes attributes;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t stream;
    int *words, can = 0, most = 0, clusters = 0;

    MUST(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
    if (!can) {
        printf("no clusters\n");
        return 77;
    }
    MUST(cudaMalloc(&words, 32 * sizeof(int)));
    MUST(cudaStreamCreate(&stream));
    config.gridDim = none.gridDim = 32;
    config.blockDim = none.blockDim = 32;
    config.stream = none.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 16;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;

    SHOW(cudaLaunchKernelEx(&config, ends, words)); //> cudaLaunchKernelEx(&config, ends, words): cudaErrorInvalidClusterSize
    SHOW(cudaLaunchKernelEx(&none, own, words));    //> cudaLaunchKernelEx(&none, own, words): cudaErrorInvalidClusterSize
    SHOW(cudaGetLastError());                       //> cudaGetLastError(): cudaErrorInvalidClusterSize
    MUST(cudaOccupancyMaxPotentialClusterSize(&most, ends, &none));
    printf("%d\n", most); //> 8

    MUST(cudaFuncSetAttribute(ends, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    MUST(cudaFuncSetAttribute(own, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    MUST(cudaFuncGetAttributes(&attributes, own));
    printf("%d %d\n", attributes.requiredClusterWidth, attributes.nonPortableClusterSizeAllowed); //> 16 1
    MUST(cudaOccupancyMaxPotentialClusterSize(&most, ends, &none));
    MUST(cudaOccupancyMaxActiveClusters(&clusters, ends, &config));
    HOLDS((most == 16) == (clusters > 0)); //> (most == 16) == (clusters > 0): yes
    if (clusters == 0) {
        printf("no clusters of 16 blocks\n");
        return 77;
    }
    SHOW(cudaLaunchKernelEx(&config, ends, words)); //> cudaLaunchKernelEx(&config, ends, words): cudaSuccess
    SHOW(cudaStreamSynchronize(stream));            //> cudaStreamSynchronize(stream): cudaSuccess
    show(words);                                    //> 15 0 15 11
    SHOW(cudaLaunchKernelEx(&none, own, words));    //> cudaLaunchKernelEx(&none, own, words): cudaSuccess
    SHOW(cudaStreamSynchronize(stream));            //> cudaStreamSynchronize(stream): cudaSuccess
    show(words);                                    //> 16 16 16 16

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(cudaLaunchKernelEx(&config, ends, words));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, stream));
    SHOW(cudaStreamSynchronize(stream)); //> cudaStreamSynchronize(stream): cudaSuccess
    show(words);                         //> 15 0 15 11

    MUST(cudaFuncSetAttribute(ends, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
    SHOW(cudaLaunchKernelEx(&config, ends, words)); //> cudaLaunchKernelEx(&config, ends, words): cudaErrorInvalidClusterSize
    attribute.val.clusterDim.x = 32;
    MUST(cudaFuncSetAttribute(ends, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    SHOW(cudaLaunchKernelEx(&config, ends, words)); //> cudaLaunchKernelEx(&config, ends, words): cudaErrorInvalidClusterSize
}
