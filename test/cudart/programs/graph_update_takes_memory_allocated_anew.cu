// An update names memory that was allocated after what the graph named had been freed, mostly at the same address.
#include "show.h"

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec = nullptr;
    cudaGraphExecUpdateResultInfo info;
    const size_t size = 4 << 20;
    int *pinned, *device, right = 0;

    MUST(cudaStreamCreate(&stream));
    for (int round = 0; round < 8; round++) {
        MUST(cudaMallocHost(&pinned, size));
        MUST(cudaMalloc(&device, size));
        MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        MUST(cudaMemsetAsync(device, 0, size, stream));
        fill<<<1, 32, 0, stream>>>(device, 10 + round);
        MUST(cudaMemcpyAsync(pinned, device, size, cudaMemcpyDeviceToHost, stream));
        MUST(cudaStreamEndCapture(stream, &graph));
        if (exec == nullptr)
            MUST(cudaGraphInstantiate(&exec, graph, 0));
        else
            MUST(cudaGraphExecUpdate(exec, graph, &info));
        MUST(cudaGraphDestroy(graph));
        for (int i = 0; i < 2; i++) {
            pinned[31] = pinned[32] = -1;
            MUST(cudaGraphLaunch(exec, stream));
            MUST(cudaStreamSynchronize(stream));
            right += pinned[31] == 10 + round && pinned[32] == 0;
        }
        MUST(cudaFree(device));
        MUST(cudaFreeHost(pinned));
    }
    printf("%d of 16\n", right); //> 16 of 16
}
