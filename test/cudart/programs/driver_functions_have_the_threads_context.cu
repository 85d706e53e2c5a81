// The thread's context is the runtime's: it can be made current again, and waits for the runtime's work.
#include "driver_function.h"

__global__ void work(unsigned *word)
{
    for (unsigned i = 0; i < 100000; i++)
        atomicAdd(word, 1);
}

int main()
{
    DRIVER(cuCtxGetCurrent, 4000);
    DRIVER(cuCtxSetCurrent, 4000);
    DRIVER(cuCtxGetDevice, 2000);
    DRIVER(cuCtxSynchronize, 2000);
    DRIVER(cuDevicePrimaryCtxRetain, 7000);
    DRIVER(cuDevicePrimaryCtxRelease, 11000);
    CUcontext context = nullptr, primary = nullptr;
    CUdevice device = -1;
    unsigned *word;

    MUST(cudaMallocHost(&word, sizeof(*word)));
    *word = 0;
    HOLDS(cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != nullptr); //> cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != nullptr: yes
    HOLDS(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS && primary == context); //> cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS && primary == context: yes
    HOLDS(cuCtxSetCurrent(context) == CUDA_SUCCESS); //> cuCtxSetCurrent(context) == CUDA_SUCCESS: yes
    HOLDS(cuCtxGetDevice(&device) == CUDA_SUCCESS && device == 0); //> cuCtxGetDevice(&device) == CUDA_SUCCESS && device == 0: yes
    work<<<1, 1>>>(word);
    HOLDS(cuCtxSynchronize() == CUDA_SUCCESS && *word == 100000); //> cuCtxSynchronize() == CUDA_SUCCESS && *word == 100000: yes
    HOLDS(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS); //> cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS: yes
}
