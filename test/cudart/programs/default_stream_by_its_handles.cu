// 0 and cudaStreamLegacy are the same stream.
#include "show.h"

__global__ void step(int *p, int value)
{
    *p = *p * 10 + value;
}

int main()
{
    int *p, host;
    unsigned flags;

    MUST(cudaMalloc(&p, 4));
    MUST(cudaMemset(p, 0, 4));
    step<<<1, 1, 0, cudaStreamLegacy>>>(p, 1);
    step<<<1, 1>>>(p, 2);
    step<<<1, 1, 0, cudaStreamLegacy>>>(p, 3);
    MUST(cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, cudaStreamLegacy));
    MUST(cudaStreamSynchronize(cudaStreamLegacy));
    printf("%d\n", host);                    //> 123
    SHOW(cudaStreamGetFlags(0, &flags));     //> cudaStreamGetFlags(0, &flags): cudaSuccess
    HOLDS(flags == cudaStreamDefault);       //> flags == cudaStreamDefault: yes
}
