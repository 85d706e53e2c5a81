// cudaStreamWaitEvent makes a stream wait, on the device, for what the event recorded.
#include "show.h"

__global__ void slow_set(volatile int *p, int value, long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
    *p = value;
}

__global__ void copy(int *to, const int *from)
{
    *to = *from;
}

int main()
{
    cudaStream_t a, b;
    cudaEvent_t event;
    int *p, host;

    MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    MUST(cudaMalloc(&p, 8));
    slow_set<<<1, 1, 0, a>>>(p, 42, 2000000);
    SHOW(cudaEventRecord(event, a));        //> cudaEventRecord(event, a): cudaSuccess
    SHOW(cudaStreamWaitEvent(b, event, 0)); //> cudaStreamWaitEvent(b, event, 0): cudaSuccess
    copy<<<1, 1, 0, b>>>(p + 1, p);
    SHOW(cudaEventDestroy(event)); //> cudaEventDestroy(event): cudaSuccess
    MUST(cudaStreamSynchronize(b));
    MUST(cudaMemcpy(&host, p + 1, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 42
}
