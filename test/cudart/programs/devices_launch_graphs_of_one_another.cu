// A graph's kernel runs on the device that it was captured on, whichever device's stream the graph is
// launched in, and keeps that stream's order.
#include "devices.h"

enum { N = 64 };

__global__ void add(int *at, int value)
{
    at[threadIdx.x] += value;
}

static cudaStream_t stream[2];
static int *at[2], host[N];

static cudaGraphExec_t captured(int d, int value)
{
    cudaGraphExec_t exec;
    cudaGraph_t graph;

    MUST(cudaStreamBeginCapture(stream[d], cudaStreamCaptureModeGlobal));
    add<<<1, N, 0, stream[d]>>>(at[d], value);
    MUST(cudaStreamEndCapture(stream[d], &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return exec;
}

// What the device has, by the stream of another.
static void show(int d, cudaStream_t in)
{
    MUST(cudaMemcpyAsync(host, at[d], sizeof(host), cudaMemcpyDefault, in));
    MUST(cudaStreamSynchronize(in));
    printf("%d %d\n", host[0], host[N - 1]);
}

int main()
{
    cudaGraphExecUpdateResultInfo info;
    cudaGraphExec_t exec[2];
    cudaGraph_t graph;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
        MUST(cudaMalloc(&at[d], sizeof(host)));
        MUST(cudaMemset(at[d], 0, sizeof(host)));
        MUST(cudaDeviceSynchronize());
        exec[d] = captured(d, 1);
    }

    for (int d = 0; d < 2; d++) {
        const cudaStream_t other = stream[1 - d];

        fill<<<1, N, 0, other>>>(at[1 - d], 100 * (d + 1), N);
        MUST(cudaMemcpyAsync(at[d], at[1 - d], sizeof(host), cudaMemcpyDefault, other));
        SHOW(cudaGraphLaunch(exec[d], other));
        MUST(cudaGraphLaunch(exec[d], other));
        show(d, other);
        MUST(cudaStreamSynchronize(stream[d]));
    }
    //> cudaGraphLaunch(exec[d], other): cudaSuccess
    //> 102 165
    //> cudaGraphLaunch(exec[d], other): cudaSuccess
    //> 202 265

    MUST(cudaSetDevice(1)); // whose legacy stream it is
    SHOW(cudaGraphLaunch(exec[0], 0)); //> cudaGraphLaunch(exec[0], 0): cudaSuccess
    show(0, cudaStreamLegacy); //> 201 264
    MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    add<<<1, N, 0, stream[0]>>>(at[0], 1000);
    MUST(cudaStreamEndCapture(stream[0], &graph));
    SHOW(cudaGraphExecUpdate(exec[0], graph, &info)); //> cudaGraphExecUpdate(exec[0], graph, &info): cudaSuccess
    MUST(cudaGraphLaunch(exec[0], stream[1]));
    show(0, stream[1]); //> 1201 1264

    // The device of a kernel cannot be changed.
    SHOW(cudaGraphExecUpdate(exec[1], graph, &info)); //> cudaGraphExecUpdate(exec[1], graph, &info): cudaErrorGraphExecUpdateFailure
    HOLDS(info.result == cudaGraphExecUpdateErrorUnsupportedFunctionChange); //> info.result == cudaGraphExecUpdateErrorUnsupportedFunctionChange: yes
    MUST(cudaGraphLaunch(exec[1], stream[0]));
    show(1, stream[0]); //> 203 266
}
