// A capture ends in the stream where it began, once the work of the others has joined it.
#include "show.h"

__global__ void nothing()
{
}

int main()
{
    cudaStream_t first, second;
    cudaEvent_t fork;
    cudaGraph_t graph;

    MUST(cudaStreamCreate(&first));
    MUST(cudaStreamCreate(&second));
    MUST(cudaEventCreate(&fork));
    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    nothing<<<1, 1, 0, first>>>();
    MUST(cudaEventRecord(fork, first));
    MUST(cudaStreamWaitEvent(second, fork, 0));
    nothing<<<1, 1, 0, second>>>();
    SHOW(cudaStreamEndCapture(first, &graph)); //> cudaStreamEndCapture(first, &graph): cudaErrorStreamCaptureUnjoined
    HOLDS(graph == nullptr);                   //> graph == nullptr: yes

    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    MUST(cudaEventRecord(fork, first));
    MUST(cudaStreamWaitEvent(second, fork, 0));
    SHOW(cudaStreamEndCapture(second, &graph)); //> cudaStreamEndCapture(second, &graph): cudaErrorStreamCaptureUnmatched
    SHOW(cudaStreamEndCapture(first, &graph));  //> cudaStreamEndCapture(first, &graph): cudaErrorStreamCaptureInvalidated
    SHOW(cudaStreamSynchronize(second));        //> cudaStreamSynchronize(second): cudaSuccess
}
