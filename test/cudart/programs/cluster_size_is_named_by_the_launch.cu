// A launch names the size of its clusters by an attribute: directly, as the node of a graph, and in a capture.
#include "show.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/* The sum of the ranks of all blocks that a block can reach, and how many these are. */
__global__ void ranks(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ int rank;
    int sum = 0;

    rank = cluster.block_rank();
    cluster.sync();
    for (unsigned i = 0; i < cluster.num_blocks(); i++)
        sum += *cluster.map_shared_rank(&rank, i);
    out[blockIdx.y * gridDim.x + blockIdx.x] = sum * 10 + cluster.num_blocks();
    cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *out)
{
    out[blockIdx.x] = cg::this_cluster().num_blocks();
}

static cudaError_t launch(dim3 grid, dim3 cluster, cudaStream_t stream, void (*kernel)(int *), int *out)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    config.gridDim = grid;
    config.blockDim = 32;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    return cudaLaunchKernelEx(&config, kernel, out);
}

static void show(const char *what, const int *words, int count)
{
    int host[16];

    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(host, words, sizeof(host), cudaMemcpyDefault));
    MUST(cudaMemset((void *)words, 0, sizeof(host)));
    printf("%s:", what);
    for (int i = 0; i < count; i++)
        printf(" %d", host[i]);
    printf("\n");
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
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaLaunchAttributeValue value = {};
    cudaFuncAttributes attributes;
    int *words, clusters, size;

    clusters_needed();
    MUST(cudaMalloc(&words, 16 * sizeof(int)));
    MUST(cudaStreamCreate(&stream));

    ranks<<<2, 32>>>(words);
    show("none", words, 2); //> none: 1 1
    MUST(launch(4, 4, stream, ranks, words));
    show("four", words, 4); //> four: 64 64 64 64
    MUST(launch(dim3(4, 2), dim3(2, 2), stream, ranks, words));
    show("two by two", words, 8); //> two by two: 64 64 64 64 64 64 64 64
    MUST(launch(8, 8, stream, ranks, words));
    show("eight", words, 8); //> eight: 288 288 288 288 288 288 288 288
    MUST(launch(4, 2, stream, pairs, words));
    show("the kernel's own", words, 4); //> the kernel's own: 2 2 2 2

    SHOW(launch(3, 2, stream, ranks, words)); //> launch(3, 2, stream, ranks, words): cudaErrorInvalidClusterSize
    SHOW(launch(16, 16, stream, ranks, words)); //> launch(16, 16, stream, ranks, words): cudaErrorInvalidClusterSize
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidClusterSize
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(launch(4, 2, stream, ranks, words));
    pairs<<<2, 32, 0, stream>>>(words + 8);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        MUST(cudaGraphLaunch(exec, stream));
        show("captured", words, 10);
    }
    //> captured: 12 12 12 12 0 0 0 0 2 2
    //> captured: 12 12 12 12 0 0 0 0 2 2

    cudaKernelNodeParams params = {};
    void *arguments[] = {&words};
    MUST(cudaGraphCreate(&graph, 0));
    params.func = (void *)ranks;
    params.gridDim = 4;
    params.blockDim = 32;
    params.kernelParams = arguments;
    MUST(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    value.clusterDim.x = 4;
    value.clusterDim.y = value.clusterDim.z = 1;
    MUST(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    MUST(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, stream));
    show("node", words, 4);              //> node: 64 64 64 64
    printf("%d\n", value.clusterDim.x); //> 4

    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 128;
    MUST(cudaOccupancyMaxPotentialClusterSize(&size, (void *)ranks, &config));
    HOLDS(size == 8); //> size == 8: yes
    MUST(cudaOccupancyMaxActiveClusters(&clusters, (void *)pairs, &config));
    HOLDS(clusters > 1); //> clusters > 1: yes
    MUST(cudaFuncGetAttributes(&attributes, (void *)pairs));
    printf("%d %d %d\n", attributes.requiredClusterWidth, attributes.requiredClusterHeight,
           attributes.requiredClusterDepth); //> 2 1 1
    return 0;
}
