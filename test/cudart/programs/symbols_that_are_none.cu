// An address that is no variable, a range beyond it, and a wrong direction are refused.
#include "show.h"

__device__ int numbers[4];

int main()
{
    static int host[8];
    void *p;

    SHOW(cudaMemcpyToSymbol((const void *)host, host, 4)); //> cudaMemcpyToSymbol((const void *)host, host, 4): cudaErrorInvalidSymbol
    SHOW(cudaGetSymbolAddress(&p, (const void *)host));    //> cudaGetSymbolAddress(&p, (const void *)host): cudaErrorInvalidSymbol
    SHOW(cudaMemcpyToSymbol(numbers, host, 20));           //> cudaMemcpyToSymbol(numbers, host, 20): cudaErrorInvalidValue
    SHOW(cudaMemcpyToSymbol(numbers, host, 8, 12));        //> cudaMemcpyToSymbol(numbers, host, 8, 12): cudaErrorInvalidValue
    SHOW(cudaMemcpyToSymbol(numbers, host, 16));           //> cudaMemcpyToSymbol(numbers, host, 16): cudaSuccess
    SHOW(cudaMemcpyToSymbol(numbers, host, 4, 0, cudaMemcpyDeviceToHost)); //> cudaMemcpyToSymbol(numbers, host, 4, 0, cudaMemcpyDeviceToHost): cudaErrorInvalidMemcpyDirection
}
