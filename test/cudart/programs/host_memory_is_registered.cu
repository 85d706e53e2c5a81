// Memory of the program's own can be registered once, and copied asynchronously then.
#include "show.h"

static int memory[2048];

int main()
{
    cudaPointerAttributes attributes;
    int *p;

    SHOW(cudaHostUnregister(memory)); //> cudaHostUnregister(memory): cudaErrorHostMemoryNotRegistered
    SHOW(cudaHostRegister(memory, 0, 0)); //> cudaHostRegister(memory, 0, 0): cudaErrorInvalidValue
    SHOW(cudaHostRegister((void *)4096, 4096, 0)); //> cudaHostRegister((void *)4096, 4096, 0): cudaErrorInvalidValue
    SHOW(cudaHostRegister(memory, sizeof(memory), cudaHostRegisterDefault)); //> cudaHostRegister(memory, sizeof(memory), cudaHostRegisterDefault): cudaSuccess
    SHOW(cudaHostRegister(memory, sizeof(memory), cudaHostRegisterDefault)); //> cudaHostRegister(memory, sizeof(memory), cudaHostRegisterDefault): cudaErrorHostMemoryAlreadyRegistered
    MUST(cudaPointerGetAttributes(&attributes, memory));
    HOLDS(attributes.type == cudaMemoryTypeHost); //> attributes.type == cudaMemoryTypeHost: yes
    cudaGetLastError();
    MUST(cudaMalloc(&p, sizeof(memory)));
    memory[2047] = 77;
    MUST(cudaMemcpyAsync(p, memory, sizeof(memory), cudaMemcpyHostToDevice, 0));
    MUST(cudaDeviceSynchronize());
    memory[2047] = 0;
    MUST(cudaMemcpyAsync(memory, p, sizeof(memory), cudaMemcpyDeviceToHost, 0));
    MUST(cudaDeviceSynchronize());
    printf("%d\n", memory[2047]); //> 77
    SHOW(cudaHostUnregister(memory + 1)); //> cudaHostUnregister(memory + 1): cudaErrorInvalidValue
    SHOW(cudaHostUnregister(memory)); //> cudaHostUnregister(memory): cudaSuccess
    SHOW(cudaHostUnregister(memory)); //> cudaHostUnregister(memory): cudaErrorHostMemoryNotRegistered
}
