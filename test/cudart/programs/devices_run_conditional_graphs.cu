// The body of a conditional node runs on the device that its nodes were made for, also where the graph
// is launched in a stream of another one.
#include "devices.h"

enum { N = 64 };

__global__ void add(int *at, int value)
{
    at[threadIdx.x] += value;
}

int main()
{
    cudaStream_t stream;
    int *at, value = 3, host[N];

    two_needed();
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc(&at, sizeof(host)));
    MUST(cudaMemset(at, 0, sizeof(host)));
    MUST(cudaDeviceSynchronize());

    cudaGraph_t graph;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node, kernel;
    cudaGraphNodeParams conditional = {cudaGraphNodeTypeConditional};
    void *arguments[] = {&at, &value};
    cudaKernelNodeParams params = {(void *)add, 1, N, 0, arguments, nullptr};
    cudaGraphExec_t exec;

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    conditional.conditional.handle = handle;
    conditional.conditional.type = cudaGraphCondTypeIf;
    conditional.conditional.size = 1;
    MUST(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &conditional));
    MUST(cudaGraphAddKernelNode(&kernel, conditional.conditional.phGraph_out[0], nullptr, 0, &params));
    MUST(cudaGraphInstantiate(&exec, graph, 0));

    MUST(cudaSetDevice(1));
    MUST(cudaStreamCreate(&stream));
    SHOW(cudaGraphLaunch(exec, stream));   //> cudaGraphLaunch(exec, stream): cudaSuccess
    SHOW(cudaGraphLaunch(exec, stream));   //> cudaGraphLaunch(exec, stream): cudaSuccess
    SHOW(cudaStreamSynchronize(stream));   //> cudaStreamSynchronize(stream): cudaSuccess
    MUST(cudaMemcpy(host, at, sizeof(host), cudaMemcpyDefault));
    printf("%d %d\n", host[0], host[N - 1]); //> 6 6
}
