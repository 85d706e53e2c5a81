// The legacy stream would have to wait for a blocking stream that captures, so its work is refused.
#include "show.h"

int main()
{
    cudaStream_t blocking, other;
    cudaGraph_t graph;
    int *p, host = 0;

    MUST(cudaStreamCreate(&blocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
    SHOW(cudaMemsetAsync(p, 0, sizeof(int), 0));  //> cudaMemsetAsync(p, 0, sizeof(int), 0): cudaErrorStreamCaptureImplicit
    SHOW(cudaStreamEndCapture(blocking, &graph)); //> cudaStreamEndCapture(blocking, &graph): cudaErrorStreamCaptureInvalidated
    MUST(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
    SHOW(cudaMemsetAsync(p, 0, sizeof(int), 0)); //> cudaMemsetAsync(p, 0, sizeof(int), 0): cudaSuccess
    SHOW(cudaStreamEndCapture(other, &graph));   //> cudaStreamEndCapture(other, &graph): cudaSuccess
    SHOW(cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost)); //> cudaMemcpy(&host, p, sizeof(int), cudaMemcpyDeviceToHost): cudaSuccess
}
