// Parameters that are set in an executable graph leave a node on its device, whichever is current. A memset
// of memory that its device does not reach is refused, and the session goes on.
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

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, kernel;
    int value = 1;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&at[d], sizeof(host)));
        MUST(cudaMemset(at[d], 0, sizeof(host)));
        MUST(cudaDeviceSynchronize());
    }
    MUST(cudaStreamCreate(&stream)); // of device 1

    void *arguments[] = {&at[0], &value};
    cudaKernelNodeParams params = {(void *)add, 1, N, 0, arguments, nullptr};
    cudaMemsetParams bytes = {at[0], 0, 0, 4, N, 1};

    MUST(cudaSetDevice(0));
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &bytes));
    MUST(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &params));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaSetDevice(1));
    for (value = 2; value < 5; value++) {
        bytes.value = 10 * value;
        MUST(cudaGraphExecMemsetNodeSetParams(exec, set, &bytes));
        MUST(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
        MUST(cudaGraphLaunch(exec, stream));
        show(0);
    }
    //> device 0: 22 22
    //> device 0: 33 33
    //> device 0: 44 44
    bytes.dst = at[1];
    MUST(cudaGraphExecMemsetNodeSetParams(exec, set, &bytes));
    SHOW(cudaGraphLaunch(exec, stream)); //> cudaGraphLaunch(exec, stream): cudaErrorInvalidValue
    bytes.dst = at[0];
    MUST(cudaGraphExecMemsetNodeSetParams(exec, set, &bytes));
    SHOW(cudaGraphLaunch(exec, stream)); //> cudaGraphLaunch(exec, stream): cudaSuccess
    show(0); //> device 0: 44 44
    show(1); //> device 1: 0 0

    // A node of the graph itself, and a clone's, is the current device's from when it is set.
    cudaGraph_t clone;

    arguments[0] = &at[1];
    bytes.dst = at[1];
    MUST(cudaGraphMemsetNodeSetParams(set, &bytes));
    MUST(cudaGraphKernelNodeSetParams(kernel, &params));
    MUST(cudaGraphClone(&clone, graph));
    MUST(cudaSetDevice(0));
    MUST(cudaGraphInstantiate(&exec, clone, 0));
    SHOW(cudaGraphLaunch(exec, 0)); //> cudaGraphLaunch(exec, 0): cudaSuccess
    show(1); //> device 1: 45 45
}
