// Pinned memory takes part in a stream's order: copy in, kernel, copy out, one wait.
#include "show.h"

__global__ void twice(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        p[i] *= 2;
}

int main()
{
    const int n = 100000;
    int *host, *device, wrong = 0;
    cudaStream_t stream;
    unsigned flags;

    MUST(cudaMallocHost(&host, n * sizeof(int)));
    MUST(cudaMalloc(&device, n * sizeof(int)));
    MUST(cudaStreamCreate(&stream));
    for (int i = 0; i < n; i++)
        host[i] = i;
    MUST(cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    twice<<<(n + 255) / 256, 256, 0, stream>>>(device, n);
    MUST(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        wrong += host[i] != 2 * i;
    printf("%d wrong\n", wrong);                 //> 0 wrong
    SHOW(cudaHostGetFlags(&flags, host));        //> cudaHostGetFlags(&flags, host): cudaSuccess
    SHOW(cudaFreeHost(host));                    //> cudaFreeHost(host): cudaSuccess
    SHOW(cudaFreeHost(nullptr));                 //> cudaFreeHost(nullptr): cudaSuccess
    SHOW(cudaFreeHost(&wrong));                  //> cudaFreeHost(&wrong): cudaErrorInvalidValue
    SHOW(cudaHostAlloc(&host, 64, 0x100));       //> cudaHostAlloc(&host, 64, 0x100): cudaErrorInvalidValue
}
