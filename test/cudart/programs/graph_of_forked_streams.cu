// A stream that waits for an event of a capture joins it; the join back puts its work into the graph.
#include "show.h"

__global__ void set(int *p, int value)
{
    *p = value;
}

__global__ void sum(int *out, const int *a, const int *b)
{
    *out = *a * 100 + *b;
}

int main()
{
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaStreamCaptureStatus status;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes, edges, roots;
    int *p, host = 0;

    MUST(cudaStreamCreate(&first));
    MUST(cudaStreamCreate(&second));
    MUST(cudaEventCreate(&fork));
    MUST(cudaEventCreate(&join));
    MUST(cudaMalloc(&p, 3 * sizeof(int)));
    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    MUST(cudaEventRecord(fork, first));
    MUST(cudaStreamWaitEvent(second, fork, 0));
    MUST(cudaStreamIsCapturing(second, &status));
    HOLDS(status == cudaStreamCaptureStatusActive); //> status == cudaStreamCaptureStatusActive: yes
    set<<<1, 1, 0, first>>>(p, 3);
    set<<<1, 1, 0, second>>>(p + 1, 4);
    MUST(cudaEventRecord(join, second));
    MUST(cudaStreamWaitEvent(first, join, 0));
    sum<<<1, 1, 0, first>>>(p + 2, p, p + 1);
    SHOW(cudaStreamEndCapture(first, &graph)); //> cudaStreamEndCapture(first, &graph): cudaSuccess
    MUST(cudaStreamIsCapturing(second, &status));
    HOLDS(status == cudaStreamCaptureStatusNone); //> status == cudaStreamCaptureStatusNone: yes
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    MUST(cudaGraphGetRootNodes(graph, nullptr, &roots));
#if CUDART_VERSION >= 13000
    MUST(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
#else
    MUST(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
#endif
    printf("%zu nodes, %zu roots, %zu edges\n", nodes, roots, edges); //> 3 nodes, 2 roots, 2 edges
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, first));
    MUST(cudaMemcpy(&host, p + 2, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 304
}
