// A captured stream's dependencies are nodes of the capture's graph: others are an error, and leave
// the capture as it was.
#include <vector>

#include "show.h"

int main()
{
    const size_t many = 4096;
    std::vector<cudaGraphNode_t> roots(many);
    cudaStream_t stream, joined;
    cudaEvent_t event;
    cudaGraph_t graph, foreign, captured;
    cudaGraphNode_t other;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamCreate(&joined));
    MUST(cudaEventCreate(&event));
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphCreate(&foreign, 0));
    for (cudaGraphNode_t &root : roots)
        MUST(cudaGraphAddEmptyNode(&root, foreign, nullptr, 0));
    MUST(cudaGraphAddEmptyNode(&other, foreign, roots.data(), many));

    SHOW(cudaStreamBeginCaptureToGraph(stream, graph, &other, nullptr, 1, cudaStreamCaptureModeRelaxed)); //> cudaStreamBeginCaptureToGraph(stream, graph, &other, nullptr, 1, cudaStreamCaptureModeRelaxed): cudaErrorInvalidValue

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    MUST(cudaEventRecord(event, stream));
    MUST(cudaStreamWaitEvent(joined, event, 0));
    SHOW(cudaStreamUpdateCaptureDependencies(stream, &other, nullptr, 1, cudaStreamSetCaptureDependencies)); //> cudaStreamUpdateCaptureDependencies(stream, &other, nullptr, 1, cudaStreamSetCaptureDependencies): cudaErrorInvalidValue
    SHOW(cudaStreamEndCapture(stream, &captured)); //> cudaStreamEndCapture(stream, &captured): cudaSuccess
    MUST(cudaGraphDestroy(captured));
    MUST(cudaGraphDestroy(foreign));
    MUST(cudaGraphDestroy(graph));
    printf("done\n"); //> done
}
