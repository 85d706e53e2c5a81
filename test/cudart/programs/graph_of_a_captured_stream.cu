// What a stream captures does not run; the graph runs it, as often as it is launched.
#include "show.h"

__global__ void add(int *p, int value)
{
    p[threadIdx.x] = p[threadIdx.x] * 2 + value;
}

int main()
{
    cudaStream_t stream, other;
    cudaStreamCaptureStatus capturing;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *p, *host;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaMalloc(&p, 128));
    MUST(cudaMallocHost(&host, 128));
    MUST(cudaMemset(p, 0, 128));
    MUST(cudaDeviceSynchronize());
    host[0] = -1;
    SHOW(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)); //> cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal): cudaSuccess
    MUST(cudaStreamIsCapturing(stream, &capturing));
    HOLDS(capturing == cudaStreamCaptureStatusActive); //> capturing == cudaStreamCaptureStatusActive: yes
    add<<<1, 32, 0, stream>>>(p, 1);
    add<<<1, 32, 0, stream>>>(p, 3);
    MUST(cudaMemcpyAsync(host, p, 128, cudaMemcpyDeviceToHost, stream));
    SHOW(cudaStreamEndCapture(stream, &graph)); //> cudaStreamEndCapture(stream, &graph): cudaSuccess
    MUST(cudaStreamIsCapturing(stream, &capturing));
    HOLDS(capturing == cudaStreamCaptureStatusNone); //> capturing == cudaStreamCaptureStatusNone: yes
    SHOW(cudaStreamSynchronize(stream)); //> cudaStreamSynchronize(stream): cudaSuccess
    printf("%d\n", host[0]);             //> -1
    SHOW(cudaGraphInstantiate(&exec, graph, 0)); //> cudaGraphInstantiate(&exec, graph, 0): cudaSuccess
    SHOW(cudaGraphDestroy(graph));               //> cudaGraphDestroy(graph): cudaSuccess
    for (int i = 0; i < 3; i++) {
        MUST(cudaGraphLaunch(exec, other));
        MUST(cudaStreamSynchronize(other));
        printf("%d %d\n", host[0], host[31]);
    }
    //> 5 5
    //> 25 25
    //> 105 105
    SHOW(cudaGraphExecDestroy(exec)); //> cudaGraphExecDestroy(exec): cudaSuccess
}
