// A call that is unsafe beside a capture is refused as the capture's and the thread's mode say.
#include "show.h"

int main()
{
    cudaStream_t stream;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaGraph_t graph;
    void *p;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SHOW(cudaMalloc(&p, 64));                   //> cudaMalloc(&p, 64): cudaErrorStreamCaptureUnsupported
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaErrorStreamCaptureInvalidated

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    SHOW(cudaMalloc(&p, 64));                   //> cudaMalloc(&p, 64): cudaSuccess
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaSuccess

    SHOW(cudaThreadExchangeStreamCaptureMode(&mode)); //> cudaThreadExchangeStreamCaptureMode(&mode): cudaSuccess
    HOLDS(mode == cudaStreamCaptureModeGlobal);       //> mode == cudaStreamCaptureModeGlobal: yes
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SHOW(cudaMalloc(&p, 64));                   //> cudaMalloc(&p, 64): cudaSuccess
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaSuccess
    MUST(cudaThreadExchangeStreamCaptureMode(&mode));
    HOLDS(mode == cudaStreamCaptureModeRelaxed); //> mode == cudaStreamCaptureModeRelaxed: yes

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    SHOW(cudaDeviceSynchronize());              //> cudaDeviceSynchronize(): cudaErrorStreamCaptureUnsupported
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaErrorStreamCaptureInvalidated
}
