// A block larger than a kernel's launch bounds is refused.
#include "show.h"

__global__ void __launch_bounds__(64) bounded(int *p)
{
    *p = 1;
}

int main()
{
    int *p;

    MUST(cudaMalloc(&p, 4));
    bounded<<<1, 128>>>(p);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidValue
    bounded<<<1, 64>>>(p);
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaSuccess
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
}
