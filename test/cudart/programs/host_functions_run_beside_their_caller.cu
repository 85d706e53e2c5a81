// A host function is called by a thread of the runtime's: the launch returns at once, and the
// function may wait for what its caller does afterwards. The stream's later work waits for it.
#include <atomic>
#include <pthread.h>

#include "show.h"

__global__ void set(int *p, int value)
{
    *p = value;
}

static std::atomic<int> go, order;
static pthread_t caller;

static void wait_for_go(void *data)
{
    while (!go.load())
        ;
    *(int *)data = pthread_equal(caller, pthread_self()) ? 1 : 2;
}

static void next(void *data)
{
    *(int *)data = ++order;
}

static void CUDART_CB note(cudaStream_t, cudaError_t status, void *data)
{
    *(int *)data = status == cudaSuccess ? ++order : -1;
}

int main()
{
    int *p, seen = 0, host = 0, places[8], right = 0;
    cudaStream_t stream, other;
    cudaEvent_t event;

    caller = pthread_self();
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&event));
    MUST(cudaMalloc(&p, 4));
    set<<<1, 1>>>(p, 1);
    MUST(cudaDeviceSynchronize());

    SHOW(cudaLaunchHostFunc(stream, wait_for_go, &seen)); //> cudaLaunchHostFunc(stream, wait_for_go, &seen): cudaSuccess
    set<<<1, 1, 0, stream>>>(p, 2);
    MUST(cudaEventRecord(event, stream));
    SHOW(cudaStreamQuery(stream)); //> cudaStreamQuery(stream): cudaErrorNotReady
    SHOW(cudaEventQuery(event));   //> cudaEventQuery(event): cudaErrorNotReady
    MUST(cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, other));
    MUST(cudaStreamSynchronize(other));
    printf("%d %d\n", host, seen); //> 1 0
    go = 1;
    SHOW(cudaEventSynchronize(event)); //> cudaEventSynchronize(event): cudaSuccess
    MUST(cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("%d %d\n", host, seen); //> 2 2

    // another stream waits for it by an event
    go = 0;
    MUST(cudaLaunchHostFunc(stream, wait_for_go, &seen));
    MUST(cudaEventRecord(event, stream));
    MUST(cudaStreamWaitEvent(other, event, 0));
    set<<<1, 1, 0, other>>>(p, 3);
    SHOW(cudaStreamQuery(other)); //> cudaStreamQuery(other): cudaErrorNotReady
    go = 1;
    MUST(cudaStreamSynchronize(other));
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 3

    // those of a stream are called in its order
    for (int i = 0; i < 8; i++) {
        if (i % 2)
            MUST(cudaLaunchHostFunc(stream, next, &places[i]));
        else
            MUST(cudaStreamAddCallback(stream, note, &places[i], 0));
    }
    MUST(cudaStreamSynchronize(stream));
    for (int i = 0; i < 8; i++)
        right += places[i] == i + 1;
    printf("%d\n", right); //> 8

    // a stream that is destroyed has its function called all the same
    go = 0;
    seen = 0;
    MUST(cudaLaunchHostFunc(stream, wait_for_go, &seen));
    SHOW(cudaStreamDestroy(stream)); //> cudaStreamDestroy(stream): cudaSuccess
    go = 1;
    MUST(cudaDeviceSynchronize());
    printf("%d\n", seen); //> 2
}
