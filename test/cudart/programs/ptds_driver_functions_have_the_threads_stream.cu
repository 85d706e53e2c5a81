// A program with per-thread default streams gets the driver's functions with these: no stream means the thread's.
#include "driver_function.h"

int main()
{
    DRIVER(cuStreamQuery, 2000);
    DRIVER(cuLaunchHostFunc, 10000);
    DRIVER(cuStreamSynchronize, 2000);
    static volatile bool go;
    cudaStream_t legacy = cudaStreamLegacy;

    HOLDS(cuLaunchHostFunc(nullptr, [](void *) { while (!go); }, nullptr) == CUDA_SUCCESS); //> cuLaunchHostFunc(nullptr, [](void *) { while (!go); }, nullptr) == CUDA_SUCCESS: yes
    HOLDS(cuStreamQuery(cudaStreamPerThread) == CUDA_ERROR_NOT_READY); //> cuStreamQuery(cudaStreamPerThread) == CUDA_ERROR_NOT_READY: yes
    HOLDS(cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY); //> cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY: yes
    go = true;
    HOLDS(cuStreamSynchronize(nullptr) == CUDA_SUCCESS); //> cuStreamSynchronize(nullptr) == CUDA_SUCCESS: yes
    SHOW(cudaStreamQuery(legacy)); //> cudaStreamQuery(legacy): cudaSuccess
}
