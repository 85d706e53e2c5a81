// Memset, kernel and copy nodes run in the order of their edges, with the arguments as they were.
#include "show.h"

__global__ void scale(int *p, int factor, int plus)
{
    p[threadIdx.x] = p[threadIdx.x] * factor + plus;
}

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t clear, kernel, copy;
    cudaMemsetParams set = {};
    cudaKernelNodeParams launch = {}, told;
    int *p, host[32], factor = 3, plus = 5;
    void *args[] = {&p, &factor, &plus};

    MUST(cudaMalloc(&p, sizeof(host)));
    MUST(cudaGraphCreate(&graph, 0));
    set.dst = p;
    set.value = 1;
    set.elementSize = 4;
    set.width = 32;
    set.height = 1;
    launch.func = (void *)scale;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(32);
    launch.kernelParams = args;
    SHOW(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));    //> cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set): cudaSuccess
    SHOW(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &launch)); //> cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &launch): cudaSuccess
    SHOW(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, p, sizeof(host), cudaMemcpyDeviceToHost)); //> cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, p, sizeof(host), cudaMemcpyDeviceToHost): cudaSuccess
    plus = 1000; /* the node has a copy */
    MUST(cudaGraphKernelNodeGetParams(kernel, &told));
    printf("%d %u %d\n", told.func == (void *)scale, told.blockDim.x, *(int *)told.kernelParams[2]); //> 1 32 5
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        MUST(cudaGraphLaunch(exec, 0));
        MUST(cudaDeviceSynchronize());
        printf("%d %d\n", host[0], host[31]);
        host[0] = host[31] = 0;
    }
    //> 8 8
    //> 8 8
    SHOW(cudaGraphAddKernelNode(&kernel, graph, nullptr, 1, &launch)); //> cudaGraphAddKernelNode(&kernel, graph, nullptr, 1, &launch): cudaErrorInvalidValue
    set.elementSize = 3;
    SHOW(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set)); //> cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set): cudaErrorInvalidValue
}
