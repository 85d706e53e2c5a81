// A capture takes in streams of several devices. Each node of the graph runs on the device of the stream
// that it was captured in, or that was current when it was added, in the order of the edges.
#include "devices.h"

enum { N = 64 };

__global__ void add(int *at, int value)
{
    at[threadIdx.x] += value;
}

static int *at[2], host[N];

static void show(int d)
{
    MUST(cudaMemcpy(host, at[d], sizeof(host), cudaMemcpyDefault));
    printf("device %d: %d %d\n", d, host[0], host[N - 1]);
}

static void count(void *counter)
{
    ++*(int *)counter;
}

int main()
{
    cudaStream_t stream[2];
    cudaEvent_t event[2], done;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int calls = 0;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
        MUST(cudaEventCreateWithFlags(&event[d], cudaEventDisableTiming));
        MUST(cudaMalloc(&at[d], sizeof(host)));
        MUST(cudaMemset(at[d], 0, sizeof(host)));
        MUST(cudaDeviceSynchronize());
    }
    MUST(cudaEventCreateWithFlags(&done, cudaEventDisableTiming)); // of device 1

    MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    add<<<1, N, 0, stream[0]>>>(at[0], 1);
    MUST(cudaEventRecord(event[0], stream[0]));
    SHOW(cudaStreamWaitEvent(stream[1], event[0], 0)); //> cudaStreamWaitEvent(stream[1], event[0], 0): cudaSuccess
    MUST(cudaMemcpyAsync(at[1], at[0], sizeof(host), cudaMemcpyDefault, stream[1]));
    add<<<1, N, 0, stream[1]>>>(at[1], 10);
    MUST(cudaLaunchHostFunc(stream[1], count, &calls));
    MUST(cudaEventRecord(event[1], stream[1]));
    MUST(cudaStreamWaitEvent(stream[0], event[1], 0));
    MUST(cudaMemcpyAsync(at[0], at[1], sizeof(host), cudaMemcpyDefault, stream[0]));
    add<<<1, N, 0, stream[0]>>>(at[0], 100);
    SHOW(cudaStreamEndCapture(stream[0], &graph)); //> cudaStreamEndCapture(stream[0], &graph): cudaSuccess
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    for (int round = 0; round < 3; round++) {
        MUST(cudaSetDevice(round % 2));
        MUST(cudaGraphLaunch(exec, round < 2 ? stream[round] : cudaStreamLegacy));
        MUST(cudaStreamSynchronize(round < 2 ? stream[round] : cudaStreamLegacy));
    }
    show(0); //> device 0: 333 333
    show(1); //> device 1: 233 233
    printf("%d calls\n", calls); //> 3 calls

    // Made by hand: the current device counts.
    cudaGraphNode_t kernel[2], record, set;
    cudaMemsetParams zeros = {at[1], 0, 0, 4, N, 1};
    int value = 7;

    MUST(cudaGraphCreate(&graph, 0));
    for (int d = 0; d < 2; d++) {
        void *arguments[] = {&at[d], &value};
        cudaKernelNodeParams params = {(void *)add, 1, N, 0, arguments, nullptr};

        MUST(cudaSetDevice(d));
        if (d == 1)
            MUST(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zeros));
        MUST(cudaGraphAddKernelNode(&kernel[d], graph, d == 1 ? &set : nullptr, d, &params));
    }
    MUST(cudaGraphAddEventRecordNode(&record, graph, kernel, 2, done));
    MUST(cudaSetDevice(0));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    SHOW(cudaGraphLaunch(exec, stream[0])); //> cudaGraphLaunch(exec, stream[0]): cudaSuccess
    SHOW(cudaStreamWaitEvent(stream[1], done, 0)); //> cudaStreamWaitEvent(stream[1], done, 0): cudaSuccess
    MUST(cudaStreamSynchronize(stream[1]));
    SHOW(cudaEventQuery(done)); //> cudaEventQuery(done): cudaSuccess
    show(0); //> device 0: 340 340
    show(1); //> device 1: 7 7
}
