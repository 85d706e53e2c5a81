// Memory, streams and events of the runtime and of the driver's functions are the same.
#include "driver_function.h"

__global__ void add(unsigned *words)
{
    words[threadIdx.x] += threadIdx.x;
}

int main()
{
    DRIVER(cuMemAlloc, 3020);
    DRIVER(cuMemFree, 3020);
    DRIVER(cuMemsetD8Async, 3020);
    DRIVER(cuMemcpyDtoHAsync, 3020);
    DRIVER(cuStreamSynchronize, 2000);
    DRIVER(cuStreamDestroy, 4000);
    DRIVER(cuEventRecord, 2000);
    DRIVER(cuEventQuery, 2000);
    DRIVER(cuEventSynchronize, 2000);
    unsigned words[32];
    cudaStream_t stream;
    cudaEvent_t event;
    CUdeviceptr there;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaEventCreate(&event));
    HOLDS(cuMemAlloc(&there, sizeof(words)) == CUDA_SUCCESS); //> cuMemAlloc(&there, sizeof(words)) == CUDA_SUCCESS: yes
    HOLDS(cuMemsetD8Async(there, 1, sizeof(words), stream) == CUDA_SUCCESS); //> cuMemsetD8Async(there, 1, sizeof(words), stream) == CUDA_SUCCESS: yes
    add<<<1, 32, 0, stream>>>((unsigned *)there);
    HOLDS(cuMemcpyDtoHAsync(words, there, sizeof(words), stream) == CUDA_SUCCESS); //> cuMemcpyDtoHAsync(words, there, sizeof(words), stream) == CUDA_SUCCESS: yes
    HOLDS(cuEventRecord(event, stream) == CUDA_SUCCESS); //> cuEventRecord(event, stream) == CUDA_SUCCESS: yes
    HOLDS(cuEventSynchronize(event) == CUDA_SUCCESS); //> cuEventSynchronize(event) == CUDA_SUCCESS: yes
    HOLDS(cuEventQuery(event) == CUDA_SUCCESS); //> cuEventQuery(event) == CUDA_SUCCESS: yes
    SHOW(cudaEventQuery(event)); //> cudaEventQuery(event): cudaSuccess
    HOLDS(words[0] == 0x01010101 && words[31] == 0x01010101 + 31); //> words[0] == 0x01010101 && words[31] == 0x01010101 + 31: yes
    HOLDS(cuStreamSynchronize(stream) == CUDA_SUCCESS); //> cuStreamSynchronize(stream) == CUDA_SUCCESS: yes
    HOLDS(cuMemFree(there) == CUDA_SUCCESS); //> cuMemFree(there) == CUDA_SUCCESS: yes
    HOLDS(cuStreamDestroy(stream) == CUDA_SUCCESS); //> cuStreamDestroy(stream) == CUDA_SUCCESS: yes
}
