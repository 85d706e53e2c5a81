// A captured event is not for waiting, and a capture takes no dependency from outside.
#include "show.h"

int main()
{
    cudaStream_t stream, other;
    cudaEvent_t inside, outside;
    cudaGraph_t graph;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&inside));
    MUST(cudaEventCreate(&outside));
    MUST(cudaEventRecord(outside, other));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    SHOW(cudaStreamWaitEvent(stream, outside, 0)); //> cudaStreamWaitEvent(stream, outside, 0): cudaErrorStreamCaptureIsolation
    SHOW(cudaStreamEndCapture(stream, &graph));    //> cudaStreamEndCapture(stream, &graph): cudaErrorStreamCaptureInvalidated

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    MUST(cudaEventRecord(inside, stream));
    SHOW(cudaEventSynchronize(inside));         //> cudaEventSynchronize(inside): cudaErrorCapturedEvent
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaErrorStreamCaptureInvalidated

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    MUST(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
    MUST(cudaEventRecord(inside, stream));
    SHOW(cudaStreamWaitEvent(other, inside, 0)); //> cudaStreamWaitEvent(other, inside, 0): cudaErrorStreamCaptureMerge
    SHOW(cudaStreamEndCapture(stream, &graph));  //> cudaStreamEndCapture(stream, &graph): cudaErrorStreamCaptureInvalidated
    SHOW(cudaStreamEndCapture(other, &graph));   //> cudaStreamEndCapture(other, &graph): cudaErrorStreamCaptureInvalidated
}
