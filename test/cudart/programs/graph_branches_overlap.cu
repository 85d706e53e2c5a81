// Branches of a graph run at the same time where the device has room, and a node waits for all that it comes after.
#include "show.h"

/* Says that it is there, and waits a while for the other one. */
__global__ void meet(volatile int *own, volatile int *other, int *met)
{
    *own = 1;
    __threadfence();
    for (int i = 0; i < 1 << 22 && !*met; i++)
        *met = *other;
}

__global__ void sum(const int *met, int *total)
{
    *total += 10 * met[0] + met[1];
}

int main()
{
    int *flags, *total, host = 0;
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes;

    MUST(cudaMalloc(&flags, 4 * sizeof(int)));
    MUST(cudaMalloc(&total, sizeof(int)));
    MUST(cudaMemset(total, 0, sizeof(int)));
    MUST(cudaStreamCreate(&a));
    MUST(cudaStreamCreate(&b));
    MUST(cudaEventCreate(&fork));
    MUST(cudaEventCreate(&join));
    MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    MUST(cudaMemsetAsync(flags, 0, 4 * sizeof(int), a));
    MUST(cudaEventRecord(fork, a));
    MUST(cudaStreamWaitEvent(b, fork, 0));
    meet<<<1, 1, 0, a>>>(flags, flags + 1, flags + 2);
    meet<<<1, 1, 0, b>>>(flags + 1, flags, flags + 3);
    MUST(cudaEventRecord(join, b));
    MUST(cudaStreamWaitEvent(a, join, 0));
    sum<<<1, 1, 0, a>>>(flags + 2, total);
    MUST(cudaStreamEndCapture(a, &graph));
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("%d nodes\n", (int)nodes); //> 4 nodes
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++)
        MUST(cudaGraphLaunch(exec, a));
    MUST(cudaStreamSynchronize(a));
    MUST(cudaMemcpy(&host, total, sizeof(int), cudaMemcpyDeviceToHost));
    printf("met %d\n", host); //> met 55

    /* By hand, with an empty node where branches come together, and nodes of no branch. */
    cudaGraph_t made;
    cudaGraphExec_t run;
    cudaGraphNode_t set, empty, last, copy;
    cudaMemsetParams fill = {};
    cudaKernelNodeParams add = {};
    int *met = flags + 2;
    void *arguments[] = {&met, &total};

    MUST(cudaGraphCreate(&made, 0));
    fill.dst = flags + 2;
    fill.elementSize = 4;
    fill.value = 3;
    fill.width = 2;
    fill.height = 1;
    add.func = (void *)sum;
    add.gridDim = add.blockDim = dim3(1);
    add.kernelParams = arguments;
    MUST(cudaGraphAddMemsetNode(&set, made, nullptr, 0, &fill));
    MUST(cudaGraphAddMemcpyNode1D(&copy, made, nullptr, 0, flags, flags + 1, 4, cudaMemcpyDeviceToDevice));
    MUST(cudaGraphAddEmptyNode(&empty, made, &set, 1));
    MUST(cudaGraphAddKernelNode(&last, made, &empty, 1, &add));
    MUST(cudaGraphInstantiate(&run, made, 0));
    MUST(cudaGraphLaunch(run, b));
    MUST(cudaStreamSynchronize(b));
    MUST(cudaMemcpy(&host, total, sizeof(int), cudaMemcpyDeviceToHost));
    printf("total %d\n", host); //> total 88
    return 0;
}
