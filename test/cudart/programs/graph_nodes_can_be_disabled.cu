// A disabled node of an executable graph does nothing, until it is enabled again.
#include "show.h"

__global__ void add(int *p, int value)
{
    *p += value;
}

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t first, second;
    cudaKernelNodeParams launch = {};
    unsigned enabled = 7;
    int *p, host, value = 1;
    void *args[] = {&p, &value};

    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaMemset(p, 0, sizeof(int)));
    MUST(cudaGraphCreate(&graph, 0));
    launch.func = (void *)add;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &launch));
    value = 10;
    MUST(cudaGraphAddKernelNode(&second, graph, &first, 1, &launch));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphNodeGetEnabled(exec, first, &enabled));
    printf("%u\n", enabled); //> 1
    for (int i = 0; i < 4; i++) {
        MUST(cudaGraphNodeSetEnabled(exec, first, i & 1));
        MUST(cudaGraphLaunch(exec, 0));
        MUST(cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost));
        printf("%d\n", host);
    }
    //> 10
    //> 21
    //> 31
    //> 42
}
