// A capture can add to a graph that there is, after nodes of it.
#include "show.h"

__global__ void add(int *p, int value)
{
    *p += value;
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph, ended;
    cudaGraphExec_t exec;
    cudaGraphNode_t first;
    cudaMemsetParams set = {};
    int *p, host;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaGraphCreate(&graph, 0));
    set.dst = p;
    set.elementSize = 4;
    set.value = 40;
    set.width = set.height = 1;
    MUST(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &set));
    SHOW(cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, cudaStreamCaptureModeGlobal)); //> cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, cudaStreamCaptureModeGlobal): cudaSuccess
    add<<<1, 1, 0, stream>>>(p, 2);
    MUST(cudaStreamEndCapture(stream, &ended));
    HOLDS(ended == graph); //> ended == graph: yes
    MUST(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 42
}
