// A clone has its own nodes, which can be found by the original's, and does not follow its changes.
#include "show.h"

__global__ void fill(int *p, int value)
{
    *p = value;
}

int main()
{
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t kernel, cloned;
    cudaKernelNodeParams launch = {};
    int *p, host, value = 1;
    void *args[] = {&p, &value};

    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaGraphCreate(&graph, 0));
    launch.func = (void *)fill;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch));
    SHOW(cudaGraphClone(&clone, graph)); //> cudaGraphClone(&clone, graph): cudaSuccess
    SHOW(cudaGraphNodeFindInClone(&cloned, kernel, clone)); //> cudaGraphNodeFindInClone(&cloned, kernel, clone): cudaSuccess
    HOLDS(cloned != kernel); //> cloned != kernel: yes
    value = 2;
    MUST(cudaGraphKernelNodeSetParams(kernel, &launch));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphInstantiate(&exec, clone, 0));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaMemcpy(&host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 1
}
