// Copy nodes to and from symbols.
#include "show.h"

__device__ int variable[4];

__global__ void twice()
{
    variable[threadIdx.x] *= 2;
}

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t to, kernel, from;
    cudaKernelNodeParams launch = {};
    int in[4] = {1, 2, 3, 4}, out[2] = {};

    MUST(cudaGraphCreate(&graph, 0));
    launch.func = (void *)twice;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(4);
    SHOW(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, variable, in, sizeof(in), 0, cudaMemcpyHostToDevice)); //> cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, variable, in, sizeof(in), 0, cudaMemcpyHostToDevice): cudaSuccess
    MUST(cudaGraphAddKernelNode(&kernel, graph, &to, 1, &launch));
    SHOW(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &kernel, 1, out, variable, sizeof(out), 8, cudaMemcpyDeviceToHost)); //> cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &kernel, 1, out, variable, sizeof(out), 8, cudaMemcpyDeviceToHost): cudaSuccess
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaDeviceSynchronize());
    printf("%d %d\n", out[0], out[1]); //> 6 8
}
