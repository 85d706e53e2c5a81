// That a stream or an event is not ready yet is an answer, and no error that cudaGetLastError tells.
#include "show.h"

__global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        ;
}

int main()
{
    cudaStream_t stream;
    cudaEvent_t event;
    volatile int *flag;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&event));
    MUST(cudaHostAlloc((void **)&flag, 4, cudaHostAllocDefault));
    *flag = 1;
    wait_for<<<1, 1, 0, stream>>>(flag); // NVIDIA's runtime loads a kernel at its first launch
    MUST(cudaStreamSynchronize(stream));
    *flag = 0;
    wait_for<<<1, 1, 0, stream>>>(flag);
    MUST(cudaEventRecord(event, stream));
    SHOW(cudaStreamQuery(stream)); //> cudaStreamQuery(stream): cudaErrorNotReady
    SHOW(cudaPeekAtLastError());   //> cudaPeekAtLastError(): cudaSuccess
    SHOW(cudaEventQuery(event));   //> cudaEventQuery(event): cudaErrorNotReady
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaSuccess
    SHOW(cudaSetDevice(-1));       //> cudaSetDevice(-1): cudaErrorInvalidDevice
    SHOW(cudaStreamQuery(stream)); //> cudaStreamQuery(stream): cudaErrorNotReady
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaErrorInvalidDevice
    *flag = 1;
    MUST(cudaStreamSynchronize(stream));
}
