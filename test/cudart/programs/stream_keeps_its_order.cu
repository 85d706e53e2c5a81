// The work of a stream runs in the order of the calls.
#include "show.h"

__global__ void step(unsigned *p, unsigned i)
{
    *p = *p * 31 + i;
}

int main()
{
    cudaStream_t stream;
    unsigned *p, host, wanted = 1;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&p, 4));
    MUST(cudaMemsetAsync(p, 0, 4, stream));
    wanted = 0;
    for (unsigned i = 0; i < 500; i++) {
        step<<<1, 1, 0, stream>>>(p, i);
        wanted = wanted * 31 + i;
    }
    MUST(cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, stream));
    SHOW(cudaStreamSynchronize(stream)); //> cudaStreamSynchronize(stream): cudaSuccess
    HOLDS(host == wanted);               //> host == wanted: yes
    SHOW(cudaStreamDestroy(stream));     //> cudaStreamDestroy(stream): cudaSuccess
}
