// A launch in the legacy stream, which would have to wait for a stream that captures, fails and ends the
// capture, as a memset does. (NVIDIA's runtime has not been asked.)
#include "show.h"

__global__ void nothing() {}

int main()
{
    cudaGraph_t graph = nullptr;
    cudaStream_t stream;

    MUST(cudaStreamCreate(&stream));
    nothing<<<1, 1>>>();
    MUST(cudaDeviceSynchronize());
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    nothing<<<1, 1, 0, stream>>>();
    nothing<<<1, 1>>>();
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorStreamCaptureImplicit
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaErrorStreamCaptureInvalidated
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorStreamCaptureInvalidated
    nothing<<<1, 1>>>();
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
}
