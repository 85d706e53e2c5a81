// An executable graph stays as it is where an update has other edges or nodes of other types, and tells why.
#include "show.h"

__global__ void add(int *p, int value)
{
    *p += value;
}

static int *p;

static cudaGraphNode_t adding(cudaGraph_t graph, const cudaGraphNode_t *after, int value)
{
    void *args[] = {&p, &value};
    cudaKernelNodeParams launch = {};
    cudaGraphNode_t node;

    launch.func = (void *)add;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&node, graph, after, after != nullptr, &launch));
    return node;
}

static void show_sum(cudaGraphExec_t exec)
{
    int host;

    MUST(cudaMemset(p, 0, sizeof(int)));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d\n", host);
}

int main()
{
    cudaGraph_t chain, other;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaGraphNode_t first, second;
    cudaMemsetParams set = {};

    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaGraphCreate(&chain, 0));
    first = adding(chain, nullptr, 1);
    second = adding(chain, &first, 10);
    MUST(cudaGraphInstantiate(&exec, chain, 0));
    show_sum(exec); //> 11

    MUST(cudaGraphCreate(&other, 0));
    adding(other, nullptr, 2);
    adding(other, nullptr, 20);
    SHOW(cudaGraphExecUpdate(exec, other, &info)); //> cudaGraphExecUpdate(exec, other, &info): cudaErrorGraphExecUpdateFailure
    HOLDS(info.result == cudaGraphExecUpdateErrorTopologyChanged); //> info.result == cudaGraphExecUpdateErrorTopologyChanged: yes
    show_sum(exec); //> 11

    MUST(cudaGraphCreate(&other, 0));
    first = adding(other, nullptr, 2);
    set.dst = p;
    set.elementSize = 4;
    set.width = set.height = 1;
    MUST(cudaGraphAddMemsetNode(&second, other, &first, 1, &set));
    SHOW(cudaGraphExecUpdate(exec, other, &info)); //> cudaGraphExecUpdate(exec, other, &info): cudaErrorGraphExecUpdateFailure
    HOLDS(info.result == cudaGraphExecUpdateErrorNodeTypeChanged); //> info.result == cudaGraphExecUpdateErrorNodeTypeChanged: yes
    show_sum(exec); //> 11

    MUST(cudaGraphCreate(&other, 0));
    first = adding(other, nullptr, 3);
    adding(other, &first, 30);
    SHOW(cudaGraphExecUpdate(exec, other, &info)); //> cudaGraphExecUpdate(exec, other, &info): cudaSuccess
    HOLDS(info.result == cudaGraphExecUpdateSuccess); //> info.result == cudaGraphExecUpdateSuccess: yes
    show_sum(exec); //> 33
    show_sum(exec); //> 33
}
