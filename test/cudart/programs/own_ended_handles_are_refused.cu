// A stream or an event that was destroyed is an invalid handle here, where CUDA leaves it undefined.
#include "show.h"

__global__ void nothing() {}

int main()
{
    cudaStream_t stream, other;
    cudaEvent_t event;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaEventCreate(&event));
    MUST(cudaStreamDestroy(stream));
    MUST(cudaEventDestroy(event));
    SHOW(cudaStreamSynchronize(stream)); //> cudaStreamSynchronize(stream): cudaErrorInvalidResourceHandle
    SHOW(cudaStreamDestroy(stream));     //> cudaStreamDestroy(stream): cudaErrorInvalidResourceHandle
    SHOW(cudaEventRecord(event));        //> cudaEventRecord(event): cudaErrorInvalidResourceHandle
    SHOW(cudaEventDestroy(event));       //> cudaEventDestroy(event): cudaErrorInvalidResourceHandle
    MUST(cudaStreamCreate(&other));
    SHOW(cudaStreamQuery(stream));       //> cudaStreamQuery(stream): cudaErrorInvalidResourceHandle
    SHOW(cudaStreamQuery(other));        //> cudaStreamQuery(other): cudaSuccess
    nothing<<<1, 1, 0, stream>>>();
    SHOW(cudaGetLastError());            //> cudaGetLastError(): cudaErrorInvalidResourceHandle
    SHOW(cudaStreamSynchronize((cudaStream_t)0x12345678)); //> cudaStreamSynchronize((cudaStream_t)0x12345678): cudaErrorInvalidResourceHandle
}
