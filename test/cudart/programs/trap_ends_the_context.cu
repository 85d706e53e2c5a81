// A kernel that traps is an error of every later call that uses the device.
#include "show.h"

__global__ void die()
{
    __trap();
}

int main()
{
    void *p;

    die<<<1, 1>>>();
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaSuccess
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorLaunchFailure
    SHOW(cudaMalloc(&p, 4));       //> cudaMalloc(&p, 4): cudaErrorLaunchFailure
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaErrorLaunchFailure
    SHOW(cudaPeekAtLastError());   //> cudaPeekAtLastError(): cudaSuccess
    SHOW(cudaMalloc(&p, 4));       //> cudaMalloc(&p, 4): cudaErrorLaunchFailure
}
