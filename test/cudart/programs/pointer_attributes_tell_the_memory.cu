// cudaPointerGetAttributes knows device memory, pinned memory and other memory.
#include "show.h"

__device__ int variable;

int main()
{
    cudaPointerAttributes a;
    int *device, *pinned, other;
    void *symbol;

    MUST(cudaMalloc(&device, 400));
    MUST(cudaMallocHost(&pinned, 400));
    MUST(cudaGetSymbolAddress(&symbol, variable));
    MUST(cudaPointerGetAttributes(&a, device + 10));
    HOLDS(a.type == cudaMemoryTypeDevice);       //> a.type == cudaMemoryTypeDevice: yes
    HOLDS(a.devicePointer == device + 10);       //> a.devicePointer == device + 10: yes
    HOLDS(a.device == 0);                        //> a.device == 0: yes
    MUST(cudaPointerGetAttributes(&a, pinned + 10));
    HOLDS(a.type == cudaMemoryTypeHost);         //> a.type == cudaMemoryTypeHost: yes
    HOLDS(a.hostPointer == pinned + 10);         //> a.hostPointer == pinned + 10: yes
    MUST(cudaPointerGetAttributes(&a, symbol));
    HOLDS(a.type == cudaMemoryTypeDevice);       //> a.type == cudaMemoryTypeDevice: yes
    SHOW(cudaPointerGetAttributes(&a, &other));  //> cudaPointerGetAttributes(&a, &other): cudaSuccess
    HOLDS(a.type == cudaMemoryTypeUnregistered); //> a.type == cudaMemoryTypeUnregistered: yes
    SHOW(cudaPointerGetAttributes(nullptr, device)); //> cudaPointerGetAttributes(nullptr, device): cudaErrorInvalidValue
}
