// A kernel node of an executable graph takes another kernel, with more parameters or fewer, and a launch that follows has
// it as often as it comes; branches overlap as before.
#include "show.h"

struct large {
    int values[60];
};

__global__ void set(int *p, int value)
{
    *p = value;
}

__global__ void last(int *p, large all, int add)
{
    *p = all.values[59] + add;
}

/* Says that it is there, and waits a while for the other one. */
__global__ void meet(volatile int *own, volatile int *other, int *met)
{
    *own = 1;
    __threadfence();
    for (int i = 0; i < 1 << 22 && !*met; i++)
        *met = *other;
}

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, clear, side;
    cudaMemsetParams zero = {};
    cudaKernelNodeParams launch = {}, meeting = {};
    large all = {};
    int *p, *flags, *own, *other, *met, host[5], value = 1, add = 1, meetings = 0;
    void *few[] = {&p, &value}, *many[] = {&p, &all, &add}, *meeting_args[] = {&own, &other, &met};

    MUST(cudaMalloc(&flags, 5 * sizeof(int)));
    p = flags + 4;
    MUST(cudaGraphCreate(&graph, 0));
    zero.dst = flags;
    zero.elementSize = 4;
    zero.width = 5;
    zero.height = 1;
    MUST(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero));
    meeting.func = (void *)meet;
    meeting.gridDim = meeting.blockDim = dim3(1);
    meeting.kernelParams = meeting_args;
    for (int i = 0; i < 2; i++) {
        own = flags + i, other = flags + 1 - i, met = flags + 2 + i;
        MUST(cudaGraphAddKernelNode(&side, graph, &clear, 1, &meeting));
    }
    launch.func = (void *)set;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = few;
    MUST(cudaGraphAddKernelNode(&node, graph, &clear, 1, &launch));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 4; round++) {
        value = 10 * round;
        all.values[59] = 100 * round;
        launch.func = round % 2 ? (void *)last : (void *)set;
        launch.kernelParams = round % 2 ? many : few;
        SHOW(cudaGraphExecKernelNodeSetParams(exec, node, &launch));
        for (int i = 0; i < 3; i++) {
            MUST(cudaGraphLaunch(exec, 0));
            MUST(cudaMemcpy(host, flags, sizeof(host), cudaMemcpyDeviceToHost));
            printf("%d ", host[4]);
        }
        meetings += host[2] + host[3];
        add = 2;
        value++;
        all.values[59]++;
        MUST(cudaGraphExecKernelNodeSetParams(exec, node, &launch));
        MUST(cudaGraphLaunch(exec, 0));
        MUST(cudaMemcpy(host, flags, sizeof(host), cudaMemcpyDeviceToHost));
        printf("%d\n", host[4]);
        meetings += host[2] + host[3];
        add = 1;
    }
    //> cudaGraphExecKernelNodeSetParams(exec, node, &launch): cudaSuccess
    //> 0 0 0 1
    //> cudaGraphExecKernelNodeSetParams(exec, node, &launch): cudaSuccess
    //> 101 101 101 103
    //> cudaGraphExecKernelNodeSetParams(exec, node, &launch): cudaSuccess
    //> 20 20 20 21
    //> cudaGraphExecKernelNodeSetParams(exec, node, &launch): cudaSuccess
    //> 301 301 301 303
    printf("%d met\n", meetings); //> 16 met

    /* By turns, and then the same again and again. */
    cudaGraphNode_t alone;
    int right = 0;

    MUST(cudaGraphCreate(&graph, 0));
    launch.func = (void *)set;
    launch.kernelParams = few;
    MUST(cudaGraphAddKernelNode(&alone, graph, nullptr, 0, &launch));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 300; round++) {
        value = round;
        all.values[59] = round - add;
        launch.func = round % 2 && round < 200 ? (void *)last : (void *)set;
        launch.kernelParams = round % 2 && round < 200 ? many : few;
        MUST(cudaGraphExecKernelNodeSetParams(exec, alone, &launch));
        MUST(cudaGraphLaunch(exec, 0));
        MUST(cudaMemcpy(host, p, sizeof(int), cudaMemcpyDeviceToHost));
        right += host[0] == round;
    }
    printf("%d of 300\n", right); //> 300 of 300
}
