// An executable graph takes over the parameters of a graph of the same shape.
#include "show.h"

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

static cudaGraph_t captured(cudaStream_t stream, int *p, int value, int kernels)
{
    cudaGraph_t graph;

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < kernels; i++)
        fill<<<1, 32, 0, stream>>>(p, value + i);
    MUST(cudaStreamEndCapture(stream, &graph));
    return graph;
}

int main()
{
    cudaStream_t stream;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    int *p, host[32];

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&p, sizeof(host)));
    MUST(cudaGraphInstantiate(&exec, captured(stream, p, 7, 2), 0));
    for (int value = 10; value <= 30; value += 10) {
        cudaGraph_t graph = captured(stream, p, value, 2);

        MUST(cudaGraphExecUpdate(exec, graph, &info));
        MUST(cudaGraphDestroy(graph));
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaMemcpyAsync(host, p, sizeof(host), cudaMemcpyDeviceToHost, stream));
        MUST(cudaStreamSynchronize(stream));
        printf("%d %d\n", info.result == cudaGraphExecUpdateSuccess, host[31]);
    }
    //> 1 11
    //> 1 21
    //> 1 31
    SHOW(cudaGraphExecUpdate(exec, captured(stream, p, 0, 3), &info)); //> cudaGraphExecUpdate(exec, captured(stream, p, 0, 3), &info): cudaErrorGraphExecUpdateFailure
    HOLDS(info.result == cudaGraphExecUpdateErrorTopologyChanged); //> info.result == cudaGraphExecUpdateErrorTopologyChanged: yes
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d\n", host[0]); //> 31
}
