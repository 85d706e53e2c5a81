// A memset is of memory that the stream's device has or has peer access to, in the stream's order.
#include "devices.h"

__global__ void add(int *at, int value)
{
    at[threadIdx.x] += value;
}

int main()
{
    enum { N = 64 };
    cudaStream_t stream[2];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *at[2], can = 0, host[N];

    two_needed();
    MUST(cudaDeviceCanAccessPeer(&can, 1, 0));
    if (!can) {
        printf("no peer access\n");
        exit(77);
    }
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
        MUST(cudaMalloc(&at[d], sizeof(host)));
    }
    // Device 1 is current.
    SHOW(cudaMemsetAsync(at[0], 0, sizeof(host), stream[1])); //> cudaMemsetAsync(at[0], 0, sizeof(host), stream[1]): cudaErrorInvalidValue
    MUST(cudaDeviceEnablePeerAccess(0, 0));
    fill<<<1, N, 0, stream[1]>>>(at[0], 1000, N);
    SHOW(cudaMemsetAsync(at[0], 1, sizeof(host), stream[1])); //> cudaMemsetAsync(at[0], 1, sizeof(host), stream[1]): cudaSuccess
    add<<<1, N, 0, stream[1]>>>(at[0], 1);
    SHOW(cudaMemset2DAsync(at[0] + 8, 4 * sizeof(int), 0, 4, 2, stream[1])); //> cudaMemset2DAsync(at[0] + 8, 4 * sizeof(int), 0, 4, 2, stream[1]): cudaSuccess
    MUST(cudaStreamSynchronize(stream[1]));
    MUST(cudaMemcpy(host, at[0], sizeof(host), cudaMemcpyDefault));
    printf("%x %x %x %x %x\n", host[0], host[8], host[9], host[12], host[N - 1]); //> 1010102 0 1010102 0 1010102
    SHOW(cudaMemsetAsync(at[1], 0, sizeof(host), stream[0])); //> cudaMemsetAsync(at[1], 0, sizeof(host), stream[0]): cudaErrorInvalidValue

    MUST(cudaStreamBeginCapture(stream[1], cudaStreamCaptureModeGlobal));
    MUST(cudaMemsetAsync(at[0], 2, sizeof(host), stream[1]));
    add<<<1, N, 0, stream[1]>>>(at[0], 5);
    MUST(cudaStreamEndCapture(stream[1], &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    SHOW(cudaGraphLaunch(exec, stream[0])); //> cudaGraphLaunch(exec, stream[0]): cudaSuccess
    MUST(cudaMemcpyAsync(host, at[0], sizeof(host), cudaMemcpyDefault, stream[0]));
    MUST(cudaStreamSynchronize(stream[0]));
    printf("%x %x\n", host[0], host[N - 1]); //> 2020207 2020207
}
