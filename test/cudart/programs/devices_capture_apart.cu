// A capture forbids work in the legacy stream of the devices whose blocking streams it has, and a wait
// for these devices, not for others.
#include "devices.h"

int main()
{
    enum { N = 64 };
    cudaStream_t stream[2];
    cudaEvent_t event;
    cudaGraph_t graph;
    int *at[2], got;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
        MUST(cudaMalloc(&at[d], N * sizeof(int)));
        fill<<<1, N>>>(at[d], 0, N);
        MUST(cudaDeviceSynchronize());
    }

    // Device 1 is current.
    MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeRelaxed));
    fill<<<1, N, 0, stream[0]>>>(at[0], 10, N);
    fill<<<1, N>>>(at[1], 20, N);
    SHOW(cudaGetLastError());        //> cudaGetLastError(): cudaSuccess
    SHOW(cudaDeviceSynchronize());   //> cudaDeviceSynchronize(): cudaSuccess
    MUST(cudaMemcpy(&got, at[1] + 1, sizeof(got), cudaMemcpyDeviceToHost));
    printf("%d\n", got); //> 21
    SHOW(cudaStreamEndCapture(stream[0], &graph)); //> cudaStreamEndCapture(stream[0], &graph): cudaSuccess

    // A capture that has streams of both.
    MUST(cudaEventCreate(&event));
    MUST(cudaStreamBeginCapture(stream[1], cudaStreamCaptureModeRelaxed));
    MUST(cudaEventRecord(event, stream[1]));
    MUST(cudaStreamWaitEvent(stream[0], event, 0));
    MUST(cudaSetDevice(0));
    fill<<<1, N>>>(at[0], 30, N);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorStreamCaptureImplicit
    SHOW(cudaStreamEndCapture(stream[1], &graph)); //> cudaStreamEndCapture(stream[1], &graph): cudaErrorStreamCaptureInvalidated
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
}
