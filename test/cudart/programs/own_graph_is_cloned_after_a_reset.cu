// A graph is the process's own: cudaGraphClone right after cudaDeviceReset attaches, and kernels run then.
#include "show.h"

__global__ void store(int *at, int value)
{
    *at = value;
}

int main()
{
    cudaGraph_t graph, clone;
    cudaStream_t stream;
    int *at, got = 0;

    MUST(cudaMalloc(&at, sizeof(int)));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    store<<<1, 1, 0, stream>>>(at, 1);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaDeviceReset());
    SHOW(cudaGraphClone(&clone, graph)); //> cudaGraphClone(&clone, graph): cudaSuccess
    MUST(cudaMalloc(&at, sizeof(int)));
    store<<<1, 1>>>(at, 2);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaSuccess
    MUST(cudaMemcpy(&got, at, sizeof(got), cudaMemcpyDeviceToHost));
    printf("%d\n", got); //> 2
}
