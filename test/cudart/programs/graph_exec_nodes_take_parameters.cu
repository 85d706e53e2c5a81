// Single nodes of an executable graph take new parameters; the graph itself stays as it was.
#include "show.h"

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec, other;
    cudaGraphNode_t clear, kernel;
    cudaMemsetParams set = {};
    cudaKernelNodeParams launch = {};
    int *p, host[32], value = 1;
    void *args[] = {&p, &value};

    MUST(cudaMalloc(&p, sizeof(host)));
    MUST(cudaGraphCreate(&graph, 0));
    set.dst = p;
    set.elementSize = 1;
    set.width = sizeof(host);
    set.height = 1;
    launch.func = (void *)fill;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(16);
    launch.kernelParams = args;
    MUST(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));
    MUST(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &launch));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    value = 5;
    launch.blockDim = dim3(32);
    SHOW(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch)); //> cudaGraphExecKernelNodeSetParams(exec, kernel, &launch): cudaSuccess
    SHOW(cudaGraphExecKernelNodeSetParams(exec, clear, &launch));  //> cudaGraphExecKernelNodeSetParams(exec, clear, &launch): cudaErrorInvalidValue
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[31]); //> 5 5
    MUST(cudaGraphInstantiate(&other, graph, 0));
    MUST(cudaGraphLaunch(other, 0));
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[31]); //> 1 0
    SHOW(cudaGraphKernelNodeSetParams(kernel, &launch)); //> cudaGraphKernelNodeSetParams(kernel, &launch): cudaSuccess
    set.value = 9;
    set.width = 64;
    set.dst = p + 16;
    SHOW(cudaGraphExecMemsetNodeSetParams(other, clear, &set)); //> cudaGraphExecMemsetNodeSetParams(other, clear, &set): cudaSuccess
    MUST(cudaGraphLaunch(other, 0));
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %x\n", host[0], host[31]); //> 1 9090909
}
