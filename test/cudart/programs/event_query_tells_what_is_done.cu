// An event that was not recorded counts as complete; a recorded one is when its work is.
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
    cudaStream_t a, b;
    cudaEvent_t event;
    int *flag;

    MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&event));
    MUST(cudaMalloc(&flag, 4));
    raise<<<1, 1>>>(flag); // NVIDIA's runtime loads a kernel at its first launch, for which it waits
    wait_for<<<1, 1>>>(flag);
    MUST(cudaMemset(flag, 0, 4));
    MUST(cudaDeviceSynchronize());
    SHOW(cudaEventQuery(event));       //> cudaEventQuery(event): cudaSuccess
    SHOW(cudaEventSynchronize(event)); //> cudaEventSynchronize(event): cudaSuccess
    wait_for<<<1, 1, 0, a>>>(flag);
    MUST(cudaEventRecord(event, a));
    SHOW(cudaEventQuery(event)); //> cudaEventQuery(event): cudaErrorNotReady
    raise<<<1, 1, 0, b>>>(flag);
    SHOW(cudaEventSynchronize(event)); //> cudaEventSynchronize(event): cudaSuccess
    SHOW(cudaEventQuery(event));       //> cudaEventQuery(event): cudaSuccess
}
