// A failed assertion is cudaErrorAssert, then and of every later call that uses the device.
#include "show.h"
#include <cassert>
#include <unistd.h>

__global__ void check(int value)
{
    assert(value == 1);
}

int main()
{
    void *p;

    close(2); // the assertion's own text
    check<<<1, 1>>>(1);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    check<<<1, 1>>>(2);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorAssert
    SHOW(cudaMalloc(&p, 4));       //> cudaMalloc(&p, 4): cudaErrorAssert
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaErrorAssert
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaSuccess
    SHOW(cudaMalloc(&p, 4));       //> cudaMalloc(&p, 4): cudaErrorAssert
}
