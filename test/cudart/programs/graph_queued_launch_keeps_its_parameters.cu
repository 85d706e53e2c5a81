// A launch of an executable graph that waits in its stream keeps the parameters that it was launched with, whatever the
// graph is changed to meanwhile.
#include <atomic>
#include <thread>

#include "show.h"

__global__ void append(int *list, int *count, int value)
{
    list[(*count)++] = value;
}

static std::atomic<bool> go;

static void CUDART_CB hold(void *)
{
    while (!go)
        std::this_thread::yield();
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaGraphNode_t node[3];
    cudaKernelNodeParams launch = {};
    int *list, *count, host[12], total, value = 0;
    void *args[] = {&list, &count, &value};

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&list, sizeof(host)));
    MUST(cudaMalloc(&count, sizeof(int)));
    MUST(cudaMemset(count, 0, sizeof(int)));
    MUST(cudaGraphCreate(&graph, 0));
    launch.func = (void *)append;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = args;
    for (int i = 0; i < 3; i++) {
        value = i + 1;
        MUST(cudaGraphAddKernelNode(&node[i], graph, i ? &node[i - 1] : nullptr, i ? 1 : 0, &launch));
    }
    MUST(cudaGraphInstantiate(&exec, graph, 0));

    MUST(cudaLaunchHostFunc(stream, hold, nullptr));
    MUST(cudaGraphLaunch(exec, stream));
    value = 20;
    MUST(cudaGraphExecKernelNodeSetParams(exec, node[1], &launch));
    MUST(cudaGraphLaunch(exec, stream));
    for (int i = 0; i < 3; i++) {
        value = 100 * (i + 1);
        MUST(cudaGraphKernelNodeSetParams(node[i], &launch));
    }
    MUST(cudaGraphExecUpdate(exec, graph, &info));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaGraphNodeSetEnabled(exec, node[0], 0));
    MUST(cudaGraphLaunch(exec, stream));
    value = 7;
    MUST(cudaGraphExecKernelNodeSetParams(exec, node[2], &launch));
    MUST(cudaGraphExecDestroy(exec));
    HOLDS(cudaStreamQuery(stream) == cudaErrorNotReady); //> cudaStreamQuery(stream) == cudaErrorNotReady: yes
    go = true;
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(&total, count, sizeof(int), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(host, list, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d:", total);
    for (int i = 0; i < 11; i++)
        printf(" %d", host[i]);
    printf("\n"); //> 11: 1 2 3 1 20 3 100 200 300 200 300
}
