// A disabled node does nothing, takes new parameters meanwhile, and its dependents still come after what it comes after.
// Kernels, copies and sets can be disabled, empty nodes cannot.
#include "show.h"

__global__ void add(int *p, int value)
{
    *p += value;
}

static int *p, *q;

static void show_both(cudaGraphExec_t exec, cudaStream_t stream)
{
    int host[2];

    MUST(cudaMemsetAsync(p, 0, sizeof(int), stream));
    MUST(cudaMemsetAsync(q, 0, sizeof(int), stream));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(&host[0], p, sizeof(int), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(&host[1], q, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[1]);
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, kernel, copy, empty, last;
    cudaMemsetParams seven = {};
    cudaKernelNodeParams launch = {};
    int value = 1;
    void *args[] = {&p, &value};

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaMalloc(&q, sizeof(int)));
    MUST(cudaGraphCreate(&graph, 0));
    seven.dst = p;
    seven.value = 7;
    seven.elementSize = 4;
    seven.width = seven.height = 1;
    MUST(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &seven));
    launch.func = (void *)add;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
    MUST(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, q, p, sizeof(int), cudaMemcpyDeviceToDevice));
    MUST(cudaGraphAddEmptyNode(&empty, graph, &copy, 1));
    args[0] = &q;
    value = 100;
    MUST(cudaGraphAddKernelNode(&last, graph, &empty, 1, &launch));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    show_both(exec, stream); //> 8 108
    MUST(cudaGraphNodeSetEnabled(exec, set, 0));
    show_both(exec, stream); //> 1 101
    MUST(cudaGraphNodeSetEnabled(exec, copy, 0));
    show_both(exec, stream); //> 1 100
    MUST(cudaGraphNodeSetEnabled(exec, kernel, 0));
    args[0] = &p;
    value = 50;
    MUST(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
    show_both(exec, stream); //> 0 100
    MUST(cudaGraphNodeSetEnabled(exec, set, 1));
    MUST(cudaGraphNodeSetEnabled(exec, copy, 1));
    show_both(exec, stream); //> 7 107
    MUST(cudaGraphNodeSetEnabled(exec, kernel, 1));
    show_both(exec, stream); //> 57 157
    MUST(cudaGraphNodeSetEnabled(exec, last, 0));
    show_both(exec, stream); //> 57 57
    SHOW(cudaGraphNodeSetEnabled(exec, empty, 0)); //> cudaGraphNodeSetEnabled(exec, empty, 0): cudaErrorInvalidValue
}
