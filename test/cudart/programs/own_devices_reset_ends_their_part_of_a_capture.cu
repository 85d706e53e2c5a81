// A capture with streams of a device that is reset becomes invalid; the streams of other devices work on.
#include "devices.h"

int main()
{
    enum { N = 64 };
    cudaStream_t stream[2], fresh[2];
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *at, got;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
    }
    MUST(cudaSetDevice(0));
    MUST(cudaEventCreate(&event));
    MUST(cudaMalloc(&at, N * sizeof(int)));
    MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeRelaxed));
    MUST(cudaEventRecord(event, stream[0]));
    MUST(cudaStreamWaitEvent(stream[1], event, 0));
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceReset());
    // New streams have the places of former ones.
    for (int i = 0; i < 2; i++) {
        MUST(cudaStreamCreate(&fresh[i]));
        MUST(cudaStreamBeginCapture(fresh[i], cudaStreamCaptureModeRelaxed));
    }
    SHOW(cudaStreamEndCapture(stream[0], &graph)); //> cudaStreamEndCapture(stream[0], &graph): cudaErrorStreamCaptureInvalidated
    for (int i = 0; i < 2; i++)
        SHOW(cudaStreamEndCapture(fresh[i], &graph));
    //> cudaStreamEndCapture(fresh[i], &graph): cudaSuccess
    //> cudaStreamEndCapture(fresh[i], &graph): cudaSuccess
    MUST(cudaSetDevice(0));
    MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeRelaxed));
    fill<<<1, N, 0, stream[0]>>>(at, 10, N);
    MUST(cudaStreamEndCapture(stream[0], &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, fresh[0]));
    MUST(cudaStreamSynchronize(fresh[0]));
    MUST(cudaMemcpy(&got, at + 1, sizeof(got), cudaMemcpyDeviceToHost));
    printf("%d\n", got); //> 11

    // What the graph works on is gone: its launch is refused.
    MUST(cudaDeviceReset());
    MUST(cudaSetDevice(1));
    SHOW(cudaGraphLaunch(exec, fresh[0])); //> cudaGraphLaunch(exec, fresh[0]): cudaErrorInvalidResourceHandle
    SHOW(cudaStreamSynchronize(fresh[0])); //> cudaStreamSynchronize(fresh[0]): cudaSuccess
}
