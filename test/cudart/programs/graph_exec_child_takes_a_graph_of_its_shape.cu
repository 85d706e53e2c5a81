// A child graph's node of an executable graph takes the parameters of a graph of the same shape before each launch, and
// refuses one of another shape.
#include "show.h"

__global__ void add(int *p, int value)
{
    atomicAdd(p, value);
}

static int *p;

static cudaGraphNode_t adding(cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, int value)
{
    void *args[] = {&p, &value};
    cudaKernelNodeParams launch = {};
    cudaGraphNode_t node;

    launch.func = (void *)add;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&node, graph, after, count, &launch));
    return node;
}

/* Two branches after one node, and a child of one node after them. */
static cudaGraph_t inner(int value)
{
    cudaGraph_t graph, innermost;
    cudaGraphNode_t first, branch[2], child;

    MUST(cudaGraphCreate(&graph, 0));
    first = adding(graph, nullptr, 0, value);
    branch[0] = adding(graph, &first, 1, 10 * value);
    branch[1] = adding(graph, &first, 1, 100 * value);
    MUST(cudaGraphCreate(&innermost, 0));
    adding(innermost, nullptr, 0, 1000 * value);
    MUST(cudaGraphAddChildGraphNode(&child, graph, branch, 2, innermost));
    return graph;
}

static void show_sum(cudaGraphExec_t exec)
{
    int host;

    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d\n", host);
}

int main()
{
    cudaGraph_t graph, other;
    cudaGraphExec_t exec;
    cudaGraphNode_t clear, child, node;
    cudaMemsetParams zero = {};

    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaGraphCreate(&graph, 0));
    zero.dst = p;
    zero.elementSize = 4;
    zero.width = zero.height = 1;
    MUST(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero));
    MUST(cudaGraphAddChildGraphNode(&child, graph, &clear, 1, inner(1)));
    adding(graph, &child, 1, 50000);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    show_sum(exec); //> 51111
    for (int value = 2; value < 5; value++) {
        MUST(cudaGraphExecChildGraphNodeSetParams(exec, child, inner(value)));
        show_sum(exec);
    }
    //> 52222
    //> 53333
    //> 54444
    MUST(cudaGraphCreate(&other, 0));
    node = adding(other, nullptr, 0, 7);
    adding(other, &node, 1, 7);
    HOLDS(cudaGraphExecChildGraphNodeSetParams(exec, child, other) != cudaSuccess); //> cudaGraphExecChildGraphNodeSetParams(exec, child, other) != cudaSuccess: yes
    show_sum(exec); //> 54444
}
