// An error of a driver's function is its result alone: the runtime's last error is what it was.
#include "driver_function.h"

int main()
{
    DRIVER(cuMemFree, 3020);
    DRIVER(cuMemAlloc, 3020);
    DRIVER(cuDeviceGet, 2000);
    CUdeviceptr there;
    CUdevice device;

    MUST(cudaFree(nullptr));
    HOLDS(cuMemFree(16) == CUDA_ERROR_INVALID_VALUE); //> cuMemFree(16) == CUDA_ERROR_INVALID_VALUE: yes
    HOLDS(cuMemAlloc(&there, 0) == CUDA_ERROR_INVALID_VALUE); //> cuMemAlloc(&there, 0) == CUDA_ERROR_INVALID_VALUE: yes
    HOLDS(cuMemAlloc(&there, (size_t)1 << 46) == CUDA_ERROR_OUT_OF_MEMORY); //> cuMemAlloc(&there, (size_t)1 << 46) == CUDA_ERROR_OUT_OF_MEMORY: yes
    HOLDS(cuDeviceGet(&device, 1000) == CUDA_ERROR_INVALID_DEVICE); //> cuDeviceGet(&device, 1000) == CUDA_ERROR_INVALID_DEVICE: yes
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaSuccess
    SHOW(cudaSetDevice(1000)); //> cudaSetDevice(1000): cudaErrorInvalidDevice
    HOLDS(cuMemFree(16) == CUDA_ERROR_INVALID_VALUE); //> cuMemFree(16) == CUDA_ERROR_INVALID_VALUE: yes
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidDevice
}
