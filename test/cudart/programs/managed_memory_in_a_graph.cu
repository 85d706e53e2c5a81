// A graph that works on managed memory finds what the host has written before each launch.
#include "show.h"

__global__ void twice(int *p)
{
    *p *= 2;
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *p;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocManaged(&p, sizeof(int)));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    twice<<<1, 1, 0, stream>>>(p);
    twice<<<1, 1, 0, stream>>>(p);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    *p = 1;
    for (int i = 0; i < 3; i++) {
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        *p += 1;
        printf("%d\n", *p);
    }
    //> 5
    //> 21
    //> 85
}
