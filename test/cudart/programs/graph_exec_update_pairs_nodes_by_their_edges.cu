// An update pairs exit nodes in their order and others by their edges, and names the node that has no pair.
#include "show.h"

__global__ void append(int *p, int digit)
{
    *p = *p * 10 + digit;
}

static int *p;

static cudaGraphNode_t appending(cudaGraph_t graph, int digit, const cudaGraphNode_t *after, size_t count)
{
    void *args[] = {&p, &digit};
    cudaKernelNodeParams launch = {};
    cudaGraphNode_t node;

    launch.func = (void *)append;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&node, graph, after, count, &launch));
    return node;
}

static cudaGraphNode_t clearing(cudaGraph_t graph)
{
    cudaMemsetParams set = {};
    cudaGraphNode_t node;

    set.dst = p;
    set.elementSize = 4;
    set.width = set.height = 1;
    MUST(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
    return node;
}

static void show_number(cudaGraphExec_t exec)
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
    cudaGraphExecUpdateResultInfo info;
    cudaGraphNode_t n[4];

    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaGraphCreate(&graph, 0));
    n[0] = clearing(graph);
    n[1] = appending(graph, 1, &n[0], 1);
    n[2] = appending(graph, 2, &n[1], 1);
    n[3] = appending(graph, 3, &n[2], 1);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    show_number(exec); //> 123

    // The same chain, whose middle was made first.
    MUST(cudaGraphCreate(&other, 0));
    n[2] = appending(other, 5, nullptr, 0);
    n[1] = appending(other, 4, nullptr, 0);
    n[0] = clearing(other);
    n[3] = appending(other, 6, &n[2], 1);
    MUST(cudaGraphAddDependencies(other, &n[0], &n[1], nullptr, 1));
    MUST(cudaGraphAddDependencies(other, &n[1], &n[2], nullptr, 1));
    SHOW(cudaGraphExecUpdate(exec, other, &info)); //> cudaGraphExecUpdate(exec, other, &info): cudaSuccess
    HOLDS(info.result == cudaGraphExecUpdateSuccess && info.errorNode == nullptr); //> info.result == cudaGraphExecUpdateSuccess && info.errorNode == nullptr: yes
    show_number(exec); //> 456

    // Another number of nodes.
    appending(other, 7, &n[3], 1);
    SHOW(cudaGraphExecUpdate(exec, other, &info)); //> cudaGraphExecUpdate(exec, other, &info): cudaErrorGraphExecUpdateFailure
    HOLDS(info.result == cudaGraphExecUpdateErrorTopologyChanged && info.errorNode == nullptr); //> info.result == cudaGraphExecUpdateErrorTopologyChanged && info.errorNode == nullptr: yes
    show_number(exec); //> 456

    // More exit nodes.
    MUST(cudaGraphCreate(&other, 0));
    n[0] = clearing(other);
    n[1] = appending(other, 1, &n[0], 1);
    n[2] = appending(other, 2, &n[1], 1);
    n[3] = appending(other, 3, &n[1], 1);
    SHOW(cudaGraphExecUpdate(exec, other, &info)); //> cudaGraphExecUpdate(exec, other, &info): cudaErrorGraphExecUpdateFailure
    HOLDS(info.result == cudaGraphExecUpdateErrorTopologyChanged); //> info.result == cudaGraphExecUpdateErrorTopologyChanged: yes
    HOLDS(info.errorNode == n[2] || info.errorNode == n[3]); //> info.errorNode == n[2] || info.errorNode == n[3]: yes

    // One more dependency.
    MUST(cudaGraphCreate(&other, 0));
    n[0] = clearing(other);
    n[1] = appending(other, 1, &n[0], 1);
    n[2] = appending(other, 2, &n[1], 1);
    n[3] = appending(other, 3, &n[1], 2);
    SHOW(cudaGraphExecUpdate(exec, other, &info)); //> cudaGraphExecUpdate(exec, other, &info): cudaErrorGraphExecUpdateFailure
    HOLDS(info.result == cudaGraphExecUpdateErrorTopologyChanged && info.errorNode == n[3]); //> info.result == cudaGraphExecUpdateErrorTopologyChanged && info.errorNode == n[3]: yes

    // A node of another type.
    MUST(cudaGraphCreate(&other, 0));
    n[0] = appending(other, 0, nullptr, 0);
    n[1] = appending(other, 1, &n[0], 1);
    n[2] = appending(other, 2, &n[1], 1);
    n[3] = appending(other, 3, &n[2], 1);
    SHOW(cudaGraphExecUpdate(exec, other, &info)); //> cudaGraphExecUpdate(exec, other, &info): cudaErrorGraphExecUpdateFailure
    HOLDS(info.result == cudaGraphExecUpdateErrorNodeTypeChanged && info.errorNode == n[0]); //> info.result == cudaGraphExecUpdateErrorNodeTypeChanged && info.errorNode == n[0]: yes
    show_number(exec); //> 456

    // A dependency that is paired already: a diamond, and one whose sides cross.
    MUST(cudaGraphCreate(&graph, 0));
    n[0] = clearing(graph);
    n[1] = appending(graph, 1, &n[0], 1);
    n[2] = appending(graph, 2, &n[1], 1);
    n[3] = appending(graph, 3, &n[1], 2);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    show_number(exec); //> 123
    MUST(cudaGraphCreate(&other, 0));
    n[0] = clearing(other);
    n[1] = appending(other, 1, &n[0], 1);
    n[2] = appending(other, 2, &n[0], 1);
    n[3] = appending(other, 3, &n[1], 2);
    SHOW(cudaGraphExecUpdate(exec, other, &info)); //> cudaGraphExecUpdate(exec, other, &info): cudaErrorGraphExecUpdateFailure
    HOLDS(info.result != cudaGraphExecUpdateSuccess && info.errorNode != nullptr); //> info.result != cudaGraphExecUpdateSuccess && info.errorNode != nullptr: yes
    show_number(exec); //> 123
}
