// The legacy stream cannot be captured, and a wait within a capture makes it invalid.
#include "show.h"

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    SHOW(cudaStreamBeginCapture(0, cudaStreamCaptureModeRelaxed)); //> cudaStreamBeginCapture(0, cudaStreamCaptureModeRelaxed): cudaErrorStreamCaptureUnsupported
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaErrorIllegalState
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    SHOW(cudaStreamSynchronize(stream));        //> cudaStreamSynchronize(stream): cudaErrorStreamCaptureUnsupported
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaErrorStreamCaptureInvalidated
    SHOW(cudaStreamSynchronize(stream));        //> cudaStreamSynchronize(stream): cudaSuccess
}
