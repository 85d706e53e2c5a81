// A kernel runs on the device of its stream, an event is recorded in a stream of its own device. Any
// thread may wait for either, and a stream for another device's event.
#include "devices.h"

int main()
{
    cudaStream_t stream[2];
    cudaEvent_t event[2];
    float time;
    int *at[2], got = 0;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
        MUST(cudaEventCreate(&event[d]));
        MUST(cudaMalloc(&at[d], 4096));
    }
    fill<<<1, 32, 0, stream[0]>>>(at[0], 1, 32); // device 1 is current
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaSuccess
    SHOW(cudaEventRecord(event[1], stream[0])); //> cudaEventRecord(event[1], stream[0]): cudaErrorInvalidResourceHandle
    SHOW(cudaEventRecord(event[0], stream[0])); //> cudaEventRecord(event[0], stream[0]): cudaSuccess
    MUST(cudaGetLastError() == cudaErrorInvalidResourceHandle ? cudaSuccess : cudaErrorUnknown);
    SHOW(cudaStreamWaitEvent(stream[1], event[0], 0)); //> cudaStreamWaitEvent(stream[1], event[0], 0): cudaSuccess
    MUST(cudaMemcpyPeerAsync(at[1], 1, at[0], 0, 4096, stream[1]));
    MUST(cudaEventRecord(event[1], stream[1]));
    MUST(cudaSetDevice(0));
    SHOW(cudaEventSynchronize(event[1]));   //> cudaEventSynchronize(event[1]): cudaSuccess
    SHOW(cudaEventQuery(event[1]));         //> cudaEventQuery(event[1]): cudaSuccess
    SHOW(cudaStreamSynchronize(stream[1])); //> cudaStreamSynchronize(stream[1]): cudaSuccess
    SHOW(cudaStreamQuery(stream[1]));       //> cudaStreamQuery(stream[1]): cudaSuccess
    MUST(cudaMemcpy(&got, at[1] + 31, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", got); //> 32
    SHOW(cudaEventElapsedTime(&time, event[0], event[1])); //> cudaEventElapsedTime(&time, event[0], event[1]): cudaErrorInvalidResourceHandle
}
