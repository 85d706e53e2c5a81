// The limit of the stack may be raised after kernels have run and graphs were made: kernels that recurse go as deep, graphs
// that are made afterwards too. A limit beyond what a thread can have is refused and changes nothing.
#include "show.h"

__device__ __noinline__ int dive(int n)
{
    volatile int frame[200];

    for (int i = 0; i < 200; i++)
        frame[i] = n;
    return n == 0 ? 0 : dive(n - 1) + frame[n % 200];
}

__global__ void deep(int *out, int levels)
{
    *out = dive(levels);
}

static int *out;

static int dived(int levels)
{
    int host = -1;

    MUST(cudaMemset(out, 0, sizeof(int)));
    deep<<<1, 32>>>(out, levels);
    MUST(cudaMemcpy(&host, out, sizeof(host), cudaMemcpyDeviceToHost));
    return host;
}

int main()
{
    size_t limit = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    MUST(cudaMalloc(&out, sizeof(int)));
    printf("%d\n", dived(0));                                   //> 0
    MUST(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    HOLDS(limit == 1024);                                       //> limit == 1024: yes
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 32 << 10));     //> cudaDeviceSetLimit(cudaLimitStackSize, 32 << 10): cudaSuccess
    MUST(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    HOLDS(limit == 32 << 10);                                   //> limit == 32 << 10: yes
    printf("%d\n", dived(20));                                  //> 210
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 20));     //> cudaDeviceSetLimit(cudaLimitStackSize, 16 << 20): cudaErrorInvalidValue
    MUST(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    HOLDS(limit == 32 << 10);                                   //> limit == 32 << 10: yes
    printf("%d\n", dived(20));                                  //> 210

    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    deep<<<1, 32, 0, stream>>>(out, 20);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaMemset(out, 0, sizeof(int)));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    int host = 0;
    MUST(cudaMemcpy(&host, out, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d\n", host);                                       //> 210

    MUST(cudaDeviceReset());
    MUST(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    HOLDS(limit == 1024);                                       //> limit == 1024: yes
    MUST(cudaMalloc(&out, sizeof(int)));
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 8 << 10));      //> cudaDeviceSetLimit(cudaLimitStackSize, 8 << 10): cudaSuccess
    printf("%d\n", dived(4));                                   //> 10
}
