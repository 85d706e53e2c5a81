// A stream that a capture has forked to may be destroyed before the capture ends. What it captured
// is in the graph, and has to be joined as the work of other streams.
#include "show.h"

__global__ void add(int *number, int summand)
{
    *number += summand;
}

static cudaStream_t fork(cudaStream_t from)
{
    cudaStream_t to;
    cudaEvent_t event;

    MUST(cudaStreamCreate(&to));
    MUST(cudaEventCreate(&event));
    MUST(cudaEventRecord(event, from));
    MUST(cudaStreamWaitEvent(to, event, 0));
    MUST(cudaEventDestroy(event));
    return to;
}

int main()
{
    cudaStream_t first, second;
    cudaEvent_t done;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *numbers, host[2] = {};

    MUST(cudaMalloc(&numbers, 2 * sizeof(int)));
    MUST(cudaMemset(numbers, 0, 2 * sizeof(int)));
    MUST(cudaStreamCreate(&first));
    MUST(cudaEventCreate(&done));

    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, first>>>(numbers, 1);
    second = fork(first);
    add<<<1, 1, 0, second>>>(numbers + 1, 20);
    MUST(cudaEventRecord(done, second));
    MUST(cudaStreamWaitEvent(first, done, 0));
    SHOW(cudaStreamDestroy(second)); //> cudaStreamDestroy(second): cudaSuccess
    add<<<1, 1, 0, first>>>(numbers + 1, 300);
    SHOW(cudaStreamEndCapture(first, &graph)); //> cudaStreamEndCapture(first, &graph): cudaSuccess
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, first));
    MUST(cudaMemcpyAsync(host, numbers, sizeof(host), cudaMemcpyDeviceToHost, first));
    MUST(cudaStreamSynchronize(first));
    HOLDS(host[0] == 1 && host[1] == 320); //> host[0] == 1 && host[1] == 320: yes

    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, first>>>(numbers, 1);
    second = fork(first);
    add<<<1, 1, 0, second>>>(numbers + 1, 20);
    SHOW(cudaStreamDestroy(second));           //> cudaStreamDestroy(second): cudaSuccess
    SHOW(cudaStreamEndCapture(first, &graph)); //> cudaStreamEndCapture(first, &graph): cudaErrorStreamCaptureUnjoined
    HOLDS(graph == nullptr);                   //> graph == nullptr: yes
}
