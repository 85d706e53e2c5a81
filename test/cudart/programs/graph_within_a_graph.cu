// A child graph is a node, a copy of a graph. A graph cannot be launched into a capture.
#include "show.h"

__global__ void twice(int *p)
{
    *p *= 2;
}

__global__ void plus_one(int *p)
{
    *p += 1;
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t inner, outer, held;
    cudaGraphExec_t exec;
    cudaGraphNode_t child, kernel;
    cudaKernelNodeParams launch = {};
    size_t count = 4;
    int *p, host = 3;
    void *args[] = {&p};

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaMemcpy(p, &host, sizeof(int), cudaMemcpyHostToDevice));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    twice<<<1, 1, 0, stream>>>(p);
    twice<<<1, 1, 0, stream>>>(p);
    MUST(cudaStreamEndCapture(stream, &inner));
    MUST(cudaGraphCreate(&outer, 0));
    SHOW(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner)); //> cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner): cudaSuccess
    launch.func = (void *)plus_one;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&kernel, outer, &child, 1, &launch));
    MUST(cudaGraphChildGraphNodeGetGraph(child, &held));
    HOLDS(held != inner); //> held != inner: yes
    MUST(cudaGraphGetNodes(held, nullptr, &count));
    printf("%zu\n", count); //> 2
    MUST(cudaGraphDestroy(inner));
    MUST(cudaGraphInstantiate(&exec, outer, 0));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 13

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SHOW(cudaGraphLaunch(exec, stream));        //> cudaGraphLaunch(exec, stream): cudaErrorStreamCaptureUnsupported
    SHOW(cudaStreamEndCapture(stream, &inner)); //> cudaStreamEndCapture(stream, &inner): cudaErrorStreamCaptureInvalidated
}
