// After fork the child's calls fail, but for the number of devices, and the parent's work.
#include "show.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void store(int *p)
{
    *p = 7;
}

static void child(int *p, cudaStream_t stream, cudaEvent_t event)
{
    int n, *q;

    SHOW(cudaMemset(p, 0, 4));           //> cudaMemset(p, 0, 4): cudaErrorInitializationError
    SHOW(cudaGetDeviceCount(&n));        //> cudaGetDeviceCount(&n): cudaSuccess
    SHOW(cudaSetDevice(0));              //> cudaSetDevice(0): cudaErrorInitializationError
    SHOW(cudaMalloc(&q, 4));             //> cudaMalloc(&q, 4): cudaErrorInitializationError
    SHOW(cudaFree(p));                   //> cudaFree(p): cudaErrorInitializationError
    SHOW(cudaStreamSynchronize(stream)); //> cudaStreamSynchronize(stream): cudaErrorInitializationError
    SHOW(cudaEventRecord(event, stream)); //> cudaEventRecord(event, stream): cudaErrorInitializationError
    store<<<1, 1>>>(p);
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaErrorInitializationError
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorInitializationError
    SHOW(cudaDeviceReset());       //> cudaDeviceReset(): cudaErrorInitializationError
    SHOW(cudaMalloc(&q, 4));       //> cudaMalloc(&q, 4): cudaErrorInitializationError
    fflush(stdout);
}

int main()
{
    int *p, host = 0, status;
    cudaStream_t stream;
    cudaEvent_t event;

    MUST(cudaMalloc(&p, 4));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaEventCreate(&event));
    fflush(stdout);
    if (fork() == 0) {
        child(p, stream, event);
        _exit(0);
    }
    wait(&status);
    store<<<1, 1, 0, stream>>>(p);
    SHOW(cudaEventRecord(event, stream)); //> cudaEventRecord(event, stream): cudaSuccess
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", host); //> 7
}
