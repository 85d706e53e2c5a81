// A host function is called after the stream's earlier work and before its later work.
#include "show.h"

__global__ void set(int *p, int value)
{
    *p = value;
}

static int *pinned;

static void look(void *data)
{
    *(int *)data = *pinned;
}

static void callback(cudaStream_t, cudaError_t status, void *data)
{
    *(int *)data += status == cudaSuccess ? 100 : 1000;
}

int main()
{
    cudaStream_t stream;
    int *p, seen = 0;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&p, 4));
    MUST(cudaMallocHost(&pinned, 4));
    set<<<1, 1, 0, stream>>>(p, 7);
    MUST(cudaMemcpyAsync(pinned, p, 4, cudaMemcpyDeviceToHost, stream));
    SHOW(cudaLaunchHostFunc(stream, look, &seen)); //> cudaLaunchHostFunc(stream, look, &seen): cudaSuccess
    set<<<1, 1, 0, stream>>>(p, 8);
    MUST(cudaMemcpyAsync(pinned, p, 4, cudaMemcpyDeviceToHost, stream));
    SHOW(cudaStreamAddCallback(stream, callback, &seen, 0)); //> cudaStreamAddCallback(stream, callback, &seen, 0): cudaSuccess
    MUST(cudaStreamSynchronize(stream));
    printf("%d %d\n", seen, *pinned); //> 107 8
}
