// Branches that an empty node forks or joins run at the same time where the device has room, also within a child graph,
// and what comes after the empty node or the child waits for all of them.
#include "show.h"

/* Says that it is there, and waits a while for the other one. */
__global__ void meet(volatile int *own, volatile int *other, int *met)
{
    *own = 1;
    __threadfence();
    for (int i = 0; i < 1 << 22 && !*met; i++)
        *met = *other;
}

__global__ void sum(const int *met, int *total)
{
    *total += 10 * met[0] + met[1];
}

static int *flags, *total;

static cudaGraphNode_t meeting(cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, int which)
{
    int *own = flags + which, *other = flags + 1 - which, *met = flags + 2 + which;
    void *args[] = {&own, &other, &met};
    cudaKernelNodeParams launch = {};
    cudaGraphNode_t node;

    launch.func = (void *)meet;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&node, graph, after, count, &launch));
    return node;
}

static cudaGraphNode_t cleared(cudaGraph_t graph)
{
    cudaMemsetParams set = {};
    cudaGraphNode_t node;

    set.dst = flags;
    set.elementSize = 4;
    set.width = 4;
    set.height = 1;
    MUST(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
    return node;
}

static void summed(cudaGraph_t graph, cudaGraphNode_t after)
{
    int *met = flags + 2;
    void *args[] = {&met, &total};
    cudaKernelNodeParams launch = {};
    cudaGraphNode_t node;

    launch.func = (void *)sum;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&node, graph, &after, 1, &launch));
}

static void run(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    int host;

    MUST(cudaMemset(total, 0, sizeof(int)));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++)
        MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaMemcpy(&host, total, sizeof(int), cudaMemcpyDeviceToHost));
    printf("met %d\n", host);
}

int main()
{
    cudaGraph_t graph, inner;
    cudaGraphNode_t set, fork, branch[2], join, last, child;

    MUST(cudaMalloc(&flags, 4 * sizeof(int)));
    MUST(cudaMalloc(&total, sizeof(int)));

    MUST(cudaGraphCreate(&graph, 0));
    set = cleared(graph);
    MUST(cudaGraphAddEmptyNode(&fork, graph, &set, 1));
    branch[0] = meeting(graph, &fork, 1, 0);
    branch[1] = meeting(graph, &fork, 1, 1);
    MUST(cudaGraphAddEmptyNode(&join, graph, branch, 2));
    MUST(cudaGraphAddEmptyNode(&last, graph, &join, 1));
    summed(graph, last);
    run(graph); //> met 55

    MUST(cudaGraphCreate(&inner, 0));
    meeting(inner, nullptr, 0, 0);
    meeting(inner, nullptr, 0, 1);
    MUST(cudaGraphCreate(&graph, 0));
    set = cleared(graph);
    MUST(cudaGraphAddChildGraphNode(&child, graph, &set, 1, inner));
    summed(graph, child);
    run(graph); //> met 55

    /* Two children, of one kernel each, which only an empty node separates from what is before them. */
    cudaGraph_t halves[2];

    MUST(cudaGraphCreate(&graph, 0));
    set = cleared(graph);
    MUST(cudaGraphAddEmptyNode(&fork, graph, &set, 1));
    for (int i = 0; i < 2; i++) {
        MUST(cudaGraphCreate(&halves[i], 0));
        meeting(halves[i], nullptr, 0, i);
        MUST(cudaGraphAddChildGraphNode(&branch[i], graph, &fork, 1, halves[i]));
    }
    MUST(cudaGraphAddEmptyNode(&join, graph, branch, 2));
    summed(graph, join);
    run(graph); //> met 55
}
