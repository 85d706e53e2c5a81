// A capture that is not relaxed ends in the thread that began it.
#include <thread>

#include "show.h"

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    std::thread([&] {
        SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaErrorStreamCaptureWrongThread
    }).join();
    cudaStreamEndCapture(stream, &graph);
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    std::thread([&] {
        SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaSuccess
    }).join();
}
