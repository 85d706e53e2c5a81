// A program with per-thread default streams gets the driver's functions with these, which are there since CUDA 7:
// no stream means the thread's.
#include "driver_function.h"

int main()
{
    const auto cuStreamQuery = (PFN_cuStreamQuery_v7000_ptsz)driver_function("cuStreamQuery", 7000);
    DRIVER(cuLaunchHostFunc, 10000);
    const auto cuStreamSynchronize = (PFN_cuStreamSynchronize_v7000_ptsz)driver_function("cuStreamSynchronize", 7000);
    cudaDriverEntryPointQueryResult result;
    static volatile bool go;
    void *early = &early;
    cudaStream_t legacy = cudaStreamLegacy;

    MUST(cudaFree(nullptr)); // makes the device's context current, which the driver's functions need
    HOLDS(cuLaunchHostFunc(nullptr, [](void *) { while (!go); }, nullptr) == CUDA_SUCCESS); //> cuLaunchHostFunc(nullptr, [](void *) { while (!go); }, nullptr) == CUDA_SUCCESS: yes
    HOLDS(cuStreamQuery(cudaStreamPerThread) == CUDA_ERROR_NOT_READY); //> cuStreamQuery(cudaStreamPerThread) == CUDA_ERROR_NOT_READY: yes
    HOLDS(cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY); //> cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY: yes
    go = true;
    HOLDS(cuStreamSynchronize(nullptr) == CUDA_SUCCESS); //> cuStreamSynchronize(nullptr) == CUDA_SUCCESS: yes
    MUST(cudaGetDriverEntryPointByVersion("cuStreamQuery", &early, 6050, cudaEnableDefault, &result));
    HOLDS(early == nullptr && result != cudaDriverEntryPointSuccess); //> early == nullptr && result != cudaDriverEntryPointSuccess: yes
    SHOW(cudaStreamQuery(legacy)); //> cudaStreamQuery(legacy): cudaSuccess
}
