// A __managed__ variable is the host's and the device's: initial values, accesses of both, its
// address in an argument, copies by symbol, and what it is told to be.
#include "show.h"

__managed__ int counter = 5;
__managed__ float table[3000] = {1.5f, 2.5f};
__managed__ int *at;
__device__ int apart = 7;

__global__ void count()
{
    atomicAdd(&counter, 1);
    if (threadIdx.x == 0) {
        table[2999] = table[0] + table[1];
        at = &counter;
        apart++;
    }
}

__global__ void add(int *to, int what)
{
    *to += what;
}

int main()
{
    cudaPointerAttributes attributes;
    void *address;
    size_t size;
    int value = 0;

    printf("%d %g\n", counter, table[1]); //> 5 2.5
    counter = 10;
    table[0] = 4.5f;
    count<<<1, 32>>>();
    MUST(cudaDeviceSynchronize());
    printf("%d %g %g\n", counter, table[2999], table[0]); //> 42 7 4.5
    HOLDS(at == &counter);                                //> at == &counter: yes
    add<<<1, 1>>>(&counter, 8);
    MUST(cudaDeviceSynchronize());
    printf("%d\n", *at); //> 50
    MUST(cudaMemcpyFromSymbol(&value, apart, sizeof(value)));
    printf("%d\n", value); //> 8

    value = 77;
    MUST(cudaMemcpyToSymbol(counter, &value, sizeof(value)));
    printf("%d\n", counter); //> 77
    counter = 78;
    MUST(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    printf("%d\n", value); //> 78
    MUST(cudaGetSymbolAddress(&address, counter));
    HOLDS(address == &counter); //> address == &counter: yes
    MUST(cudaGetSymbolSize(&size, table));
    printf("%zu\n", size); //> 12000
    MUST(cudaMemset(table, 0, sizeof(table)));
    MUST(cudaDeviceSynchronize());
    printf("%g\n", table[0]); //> 0
    MUST(cudaPointerGetAttributes(&attributes, &table[5]));
    HOLDS(attributes.type == cudaMemoryTypeManaged); //> attributes.type == cudaMemoryTypeManaged: yes
    SHOW(cudaFree(&counter));                        //> cudaFree(&counter): cudaErrorInvalidValue
    printf("%d\n", counter);                         //> 78
}
