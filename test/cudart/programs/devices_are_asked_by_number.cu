// Calls that name a device by its number take each that there is.
#include "devices.h"

int main()
{
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaKernel_t kernel;
    size_t width = 0;

    two_needed();
    MUST(cudaGetKernel(&kernel, (const void *)fill));
    SHOW(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 1)); //> cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 1): cudaSuccess
    SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&width, &channels, 1)); //> cudaDeviceGetTexture1DLinearMaxWidth(&width, &channels, 1): cudaSuccess
    HOLDS(width > 0); //> width > 0: yes
    SHOW(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 1000)); //> cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 1000): cudaErrorInvalidDevice
    SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&width, &channels, 1000)); //> cudaDeviceGetTexture1DLinearMaxWidth(&width, &channels, 1000): cudaErrorInvalidDevice
}
