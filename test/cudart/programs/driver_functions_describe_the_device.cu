// The driver's functions tell the device as the runtime does: count, name, identity, memory, attributes.
#include <cstring>

#include "driver_function.h"

int main()
{
    DRIVER(cuDeviceGetCount, 2000);
    DRIVER(cuDeviceGet, 2000);
    DRIVER(cuDeviceGetName, 2000);
    DRIVER(cuDeviceGetUuid, 11040);
    DRIVER(cuDeviceTotalMem, 3020);
    DRIVER(cuDeviceGetAttribute, 2000);
    cudaDeviceProp p;
    int count, counted, sms;
    CUdevice device;
    char name[256];
    CUuuid uuid;
    size_t bytes;

    MUST(cudaGetDeviceProperties(&p, 0));
    MUST(cudaGetDeviceCount(&count));
    HOLDS(cuDeviceGetCount(&counted) == CUDA_SUCCESS && counted == count); //> cuDeviceGetCount(&counted) == CUDA_SUCCESS && counted == count: yes
    HOLDS(cuDeviceGet(&device, 0) == CUDA_SUCCESS); //> cuDeviceGet(&device, 0) == CUDA_SUCCESS: yes
    HOLDS(cuDeviceGetName(name, sizeof(name), device) == CUDA_SUCCESS && strcmp(name, p.name) == 0); //> cuDeviceGetName(name, sizeof(name), device) == CUDA_SUCCESS && strcmp(name, p.name) == 0: yes
    HOLDS(cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS && memcmp(&uuid, &p.uuid, sizeof(uuid)) == 0); //> cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS && memcmp(&uuid, &p.uuid, sizeof(uuid)) == 0: yes
    HOLDS(cuDeviceTotalMem(&bytes, device) == CUDA_SUCCESS && bytes == p.totalGlobalMem); //> cuDeviceTotalMem(&bytes, device) == CUDA_SUCCESS && bytes == p.totalGlobalMem: yes
    HOLDS(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) == CUDA_SUCCESS && sms == p.multiProcessorCount); //> cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) == CUDA_SUCCESS && sms == p.multiProcessorCount: yes
    HOLDS(cuDeviceGetAttribute(&sms, (CUdevice_attribute)0, device) == CUDA_ERROR_INVALID_VALUE); //> cuDeviceGetAttribute(&sms, (CUdevice_attribute)0, device) == CUDA_ERROR_INVALID_VALUE: yes
}
