// A graph is launched in a stream of its device, also where another one is current, and takes other
// arguments between.
#include "devices.h"

int main()
{
    enum { N = 64 };
    cudaGraphExec_t exec[2];
    cudaStream_t stream[2];
    int *at[2], got;

    two_needed();
    for (int d = 0; d < 2; d++) {
        cudaGraph_t graph;

        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&at[d], N * sizeof(int)));
        MUST(cudaStreamCreate(&stream[d]));
        MUST(cudaStreamBeginCapture(stream[d], cudaStreamCaptureModeGlobal));
        fill<<<1, N, 0, stream[d]>>>(at[d], 10 * d, N);
        MUST(cudaStreamEndCapture(stream[d], &graph));
        MUST(cudaGraphInstantiate(&exec[d], graph, 0));
        MUST(cudaGraphDestroy(graph));
    }
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(1 - d)); // the stream tells
        MUST(cudaGraphLaunch(exec[d], stream[d]));
        MUST(cudaStreamSynchronize(stream[d]));
        MUST(cudaMemcpy(&got, at[d] + 5, sizeof(got), cudaMemcpyDeviceToHost));
        printf("%d\n", got); //> 5
                             //> 15
    }
    for (int round = 1; round < 4; round++) {
        for (int d = 0; d < 2; d++) {
            cudaGraphExecUpdateResultInfo info;
            cudaGraph_t graph;

            MUST(cudaSetDevice(d));
            MUST(cudaStreamBeginCapture(stream[d], cudaStreamCaptureModeGlobal));
            fill<<<1, N, 0, stream[d]>>>(at[d], 100 * round + 10 * d, N);
            MUST(cudaStreamEndCapture(stream[d], &graph));
            MUST(cudaGraphExecUpdate(exec[d], graph, &info));
            MUST(cudaGraphDestroy(graph));
            MUST(cudaGraphLaunch(exec[d], stream[d]));
        }
    }

    // A graph whose node waits for another device's event.
    cudaGraph_t waiting;
    cudaGraphExec_t waits;
    cudaGraphNode_t node;
    cudaEvent_t event;

    MUST(cudaSetDevice(1));
    MUST(cudaEventCreate(&event));
    MUST(cudaEventRecord(event, stream[1]));
    MUST(cudaGraphCreate(&waiting, 0));
    MUST(cudaGraphAddEventWaitNode(&node, waiting, nullptr, 0, event));
    MUST(cudaSetDevice(0));
    MUST(cudaGraphInstantiate(&waits, waiting, 0));
    SHOW(cudaGraphLaunch(waits, stream[0])); //> cudaGraphLaunch(waits, stream[0]): cudaSuccess
    SHOW(cudaStreamSynchronize(stream[0]));  //> cudaStreamSynchronize(stream[0]): cudaSuccess
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceSynchronize());
    MUST(cudaDeviceReset()); // nothing of device 0 goes with it
    MUST(cudaSetDevice(0));
    MUST(cudaGraphLaunch(exec[0], stream[0]));
    MUST(cudaStreamSynchronize(stream[0]));
    MUST(cudaMemcpy(&got, at[0] + 7, sizeof(got), cudaMemcpyDeviceToHost));
    printf("%d\n", got); //> 307
}
