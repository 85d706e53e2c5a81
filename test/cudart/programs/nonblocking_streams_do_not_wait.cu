// A non-blocking stream and the legacy default stream do not wait for each other: a kernel of the
// one ends only when a kernel of the other has run.
#include "show.h"

__global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        ;
}

__global__ void raise(volatile int *flag)
{
    *flag = 1;
}

int main()
{
    cudaFuncAttributes loaded;
    cudaStream_t stream;
    int *flag;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaMalloc(&flag, 4));
    MUST(cudaMemset(flag, 0, 4));
    MUST(cudaDeviceSynchronize());
    // A kernel that is loaded at its first launch may wait for the other to end.
    MUST(cudaFuncGetAttributes(&loaded, wait_for));
    MUST(cudaFuncGetAttributes(&loaded, raise));
    wait_for<<<1, 1, 0, stream>>>(flag);
    SHOW(cudaStreamQuery(stream));       //> cudaStreamQuery(stream): cudaErrorNotReady
    raise<<<1, 1>>>(flag);
    SHOW(cudaStreamSynchronize(0));      //> cudaStreamSynchronize(0): cudaSuccess
    SHOW(cudaStreamSynchronize(stream)); //> cudaStreamSynchronize(stream): cudaSuccess
    SHOW(cudaStreamQuery(stream));       //> cudaStreamQuery(stream): cudaSuccess
    SHOW(cudaStreamQuery(0));            //> cudaStreamQuery(0): cudaSuccess
}
