// An allocation that does not fit is an error that does no lasting harm.
#include "show.h"

int main()
{
    void *p = nullptr;

    SHOW(cudaMalloc(&p, (size_t)1 << 50)); //> cudaMalloc(&p, (size_t)1 << 50): cudaErrorMemoryAllocation
    SHOW(cudaGetLastError());              //> cudaGetLastError(): cudaErrorMemoryAllocation
    SHOW(cudaGetLastError());              //> cudaGetLastError(): cudaSuccess
    SHOW(cudaMalloc(&p, 1 << 20));         //> cudaMalloc(&p, 1 << 20): cudaSuccess
    HOLDS((size_t)p % 256 == 0);           //> (size_t)p % 256 == 0: yes
}
