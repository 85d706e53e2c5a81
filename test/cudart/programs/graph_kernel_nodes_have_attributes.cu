// Attributes of a kernel node can be set, asked for, and copied to another; its parameters leave
// them. A captured launch's node has the launch's attributes, and the priority of its stream.
#include <cooperative_groups.h>

#include "show.h"

__global__ void add(int *sum, int value)
{
    atomicAdd(sum, value);
}

__global__ void reverse(int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;

    from[i] = i;
    cooperative_groups::this_grid().sync();
    to[i] = from[n - 1 - i];
}

static cudaGraphNode_t first_node(cudaGraph_t graph)
{
    cudaGraphNode_t node;
    size_t count = 1;

    MUST(cudaGraphGetNodes(graph, &node, &count));
    return node;
}

static int node_priority(cudaGraphNode_t node)
{
    cudaLaunchAttributeValue value = {};

    MUST(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value));
    return value.priority;
}

// The node of a kernel that is launched with the attributes in a stream of the priority.
static cudaGraph_t captured(int priority, cudaLaunchAttribute *attributes, unsigned count, int *p)
{
    cudaLaunchConfig_t config = {};
    cudaStream_t stream;
    cudaGraph_t graph;

    MUST(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    config.gridDim = config.blockDim = 4;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    MUST(cudaLaunchKernelEx(&config, reverse, p, p + 16));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaStreamDestroy(stream));
    return graph;
}

int main()
{
    int *p, host[16], value = 7, least, greatest;
    void *arguments[] = {&p, &value}, *both[2];
    cudaKernelNodeParams params = {};
    cudaLaunchAttributeValue attribute = {};
    cudaLaunchAttribute launch = {};
    cudaGraphNode_t node, other;
    cudaGraphExec_t exec;
    cudaGraph_t graph;

    MUST(cudaMalloc(&p, 32 * sizeof(int)));
    MUST(cudaMemset(p, 0, 32 * sizeof(int)));
    MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    MUST(cudaGraphCreate(&graph, 0));
    params.func = (void *)add;
    params.gridDim = params.blockDim = 1;
    params.kernelParams = arguments;
    MUST(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    MUST(cudaGraphAddKernelNode(&other, graph, nullptr, 0, &params));

    attribute.priority = greatest;
    SHOW(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &attribute)); //> cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &attribute): cudaSuccess
    attribute = {};
    attribute.accessPolicyWindow.base_ptr = p;
    attribute.accessPolicyWindow.num_bytes = 64;
    attribute.accessPolicyWindow.hitRatio = 1;
    attribute.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    attribute.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    SHOW(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeAccessPolicyWindow, &attribute)); //> cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeAccessPolicyWindow, &attribute): cudaSuccess
    HOLDS(node_priority(node) == greatest); //> node_priority(node) == greatest: yes
    value = 9;
    MUST(cudaGraphKernelNodeSetParams(node, &params));
    HOLDS(node_priority(node) == greatest); //> node_priority(node) == greatest: yes
    SHOW(cudaGraphKernelNodeCopyAttributes(other, node)); //> cudaGraphKernelNodeCopyAttributes(other, node): cudaSuccess
    HOLDS(node_priority(other) == greatest); //> node_priority(other) == greatest: yes
    attribute = {};
    SHOW(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeAccessPolicyWindow, &attribute)); //> cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeAccessPolicyWindow, &attribute): cudaSuccess
    printf("%zu %d %d\n", attribute.accessPolicyWindow.num_bytes, attribute.accessPolicyWindow.base_ptr == p, attribute.accessPolicyWindow.hitProp); //> 64 1 2
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaMemcpy(host, p, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d\n", host[0]); //> 16

    graph = captured(greatest, nullptr, 0, p);
    HOLDS(node_priority(first_node(graph)) == greatest); //> node_priority(first_node(graph)) == greatest: yes
    launch.id = cudaLaunchAttributeCooperative;
    launch.val.cooperative = 1;
    graph = captured(least, &launch, 1, p);
    node = first_node(graph);
    attribute = {};
    MUST(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &attribute));
    printf("%d\n", attribute.cooperative); //> 1
    // A cooperative node stays one when it gets other parameters.
    int *from = p, *to = p + 16;
    both[0] = &from, both[1] = &to;
    params.func = (void *)reverse;
    params.gridDim = params.blockDim = 4;
    params.kernelParams = both;
    MUST(cudaGraphKernelNodeSetParams(node, &params));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaMemcpy(host, p + 16, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[15]); //> 15 0
}
