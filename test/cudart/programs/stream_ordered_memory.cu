// Memory of cudaMallocAsync is used and given up in the stream's order.
#include "show.h"

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

int main()
{
    cudaStream_t stream;
    int *p, host[32];

    MUST(cudaStreamCreate(&stream));
    for (int round = 0; round < 3; round++) {
        MUST(cudaMallocAsync(&p, sizeof(host), stream));
        fill<<<1, 32, 0, stream>>>(p, round);
        MUST(cudaMemcpyAsync(host, p, sizeof(host), cudaMemcpyDeviceToHost, stream));
        SHOW(cudaFreeAsync(p, stream));
        MUST(cudaStreamSynchronize(stream));
        printf("%d %d\n", host[0], host[31]);
    }
    //> cudaFreeAsync(p, stream): cudaSuccess
    //> 0 0
    //> cudaFreeAsync(p, stream): cudaSuccess
    //> 1 1
    //> cudaFreeAsync(p, stream): cudaSuccess
    //> 2 2
    SHOW(cudaFreeAsync(nullptr, stream)); //> cudaFreeAsync(nullptr, stream): cudaSuccess
}
