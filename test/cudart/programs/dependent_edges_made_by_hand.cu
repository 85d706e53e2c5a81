// Programmatic edges that a program adds, asks for and removes.
#include "show.h"

__global__ void step(unsigned *p, unsigned add)
{
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    *p = *p * 3 + add;
}

static unsigned *p;

static cudaGraphNode_t add(cudaGraph_t graph, unsigned value)
{
    cudaKernelNodeParams params = {};
    void *args[] = {&p, &value};
    cudaGraphNode_t node;

    params.func = (void *)step;
    params.gridDim = params.blockDim = 1;
    params.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    return node;
}

static void show(cudaGraphNode_t node)
{
    cudaGraphNode_t before[4];
    cudaGraphEdgeData data[4];
    size_t count = 4;

    MUST(cudaGraphNodeGetDependencies(node, before, data, &count));
    printf("%zu:", count);
    for (size_t i = 0; i < count; i++)
        printf(" type %d port %d", data[i].type, data[i].from_port);
    printf("\n");
}

static void run(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    unsigned seen;

    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaMemset(p, 0, 4));
    MUST(cudaGraphLaunch(exec, nullptr));
    MUST(cudaMemcpy(&seen, p, 4, cudaMemcpyDeviceToHost));
    MUST(cudaGraphExecDestroy(exec));
    printf("%u\n", seen);
}

int main()
{
    cudaGraphEdgeData programmatic = {}, full = {};
    cudaGraphNode_t node[3], clone_node;
    cudaGraph_t graph, clone;
    size_t count = 1;

    programmatic.type = cudaGraphDependencyTypeProgrammatic;
    programmatic.from_port = cudaGraphKernelNodePortProgrammatic;
    MUST(cudaMalloc(&p, 4));
    MUST(cudaGraphCreate(&graph, 0));
    for (unsigned i = 0; i < 3; i++)
        node[i] = add(graph, i + 1);
    SHOW(cudaGraphAddDependencies(graph, &node[0], &node[1], &programmatic, 1)); //> cudaGraphAddDependencies(graph, &node[0], &node[1], &programmatic, 1): cudaSuccess
    SHOW(cudaGraphAddDependencies(graph, &node[1], &node[2], &full, 1)); //> cudaGraphAddDependencies(graph, &node[1], &node[2], &full, 1): cudaSuccess
    show(node[1]); //> 1: type 1 port 1
    show(node[2]); //> 1: type 0 port 0
    run(graph); //> 18
    MUST(cudaGraphClone(&clone, graph));
    MUST(cudaGraphNodeFindInClone(&clone_node, node[1], clone));
    show(clone_node); //> 1: type 1 port 1
    run(clone); //> 18
    SHOW(cudaGraphRemoveDependencies(graph, &node[0], &node[1], &programmatic, 1)); //> cudaGraphRemoveDependencies(graph, &node[0], &node[1], &programmatic, 1): cudaSuccess
    show(node[1]); //> 0:
    SHOW(cudaGraphAddDependencies(graph, &node[0], &node[1], nullptr, 1)); //> cudaGraphAddDependencies(graph, &node[0], &node[1], nullptr, 1): cudaSuccess
    show(node[1]); //> 1: type 0 port 0
    SHOW(cudaGraphNodeGetDependencies(node[1], &clone_node, nullptr, &count)); //> cudaGraphNodeGetDependencies(node[1], &clone_node, nullptr, &count): cudaSuccess
    run(graph); //> 18
}
