// A stream may be destroyed while it captures: the capture ends, and its graph is gone.
#include "show.h"

__global__ void add(int *number, int value)
{
    *number += value;
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes;
    int *number, value;

    MUST(cudaMalloc(&number, sizeof(int)));
    MUST(cudaMemset(number, 0, sizeof(int)));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(number, 1);
    SHOW(cudaStreamDestroy(stream)); //> cudaStreamDestroy(stream): cudaSuccess

    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(number, 20);
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaSuccess
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    HOLDS(nodes == 1); //> nodes == 1: yes
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaMemcpyAsync(&value, number, sizeof(value), cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    HOLDS(value == 20); //> value == 20: yes
}
