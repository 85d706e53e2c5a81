// Events recorded as nodes are recorded at each launch.
#include "show.h"

__global__ void fill(int *p, int value)
{
    *p = value;
}

int main()
{
    cudaStream_t stream;
    cudaEvent_t event, told;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[4];
    cudaGraphNodeType type;
    size_t count = 4;
    int *p, host = 0;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&event));
    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    fill<<<1, 1, 0, stream>>>(p, 9);
    SHOW(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal)); //> cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal): cudaSuccess
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphGetNodes(graph, nodes, &count));
    MUST(cudaGraphNodeGetType(nodes[1], &type));
    printf("%zu %d\n", count, type == cudaGraphNodeTypeEventRecord); //> 2 1
    MUST(cudaGraphEventRecordNodeGetEvent(nodes[1], &told));
    HOLDS(told == event); //> told == event: yes
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, stream));
    SHOW(cudaEventSynchronize(event)); //> cudaEventSynchronize(event): cudaSuccess
    MUST(cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 9
    SHOW(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal)); //> cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal): cudaErrorIllegalState
}
