// cuPointerGetAttribute and cuMemGetAddressRange tell of memory that the runtime has allocated.
#include "driver_function.h"

int main()
{
    DRIVER(cuPointerGetAttribute, 4000);
    DRIVER(cuMemGetAddressRange, 3020);
    CUmemorytype type;
    CUdeviceptr base;
    bool managed;
    int ordinal;
    size_t size;
    char *device, *pinned, *shared, plain;

    MUST(cudaMalloc(&device, 10000));
    MUST(cudaMallocHost(&pinned, 10000));
    MUST(cudaMallocManaged(&shared, 10000));
    HOLDS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(device + 1)) == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE); //> cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(device + 1)) == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE: yes
    HOLDS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pinned) == CUDA_SUCCESS && type == CU_MEMORYTYPE_HOST); //> cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pinned) == CUDA_SUCCESS && type == CU_MEMORYTYPE_HOST: yes
    HOLDS(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)shared) == CUDA_SUCCESS && managed); //> cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)shared) == CUDA_SUCCESS && managed: yes
    HOLDS(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)device) == CUDA_SUCCESS && !managed); //> cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)device) == CUDA_SUCCESS && !managed: yes
    HOLDS(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)device) == CUDA_SUCCESS && ordinal == 0); //> cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)device) == CUDA_SUCCESS && ordinal == 0: yes
    HOLDS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&plain) == CUDA_ERROR_INVALID_VALUE); //> cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&plain) == CUDA_ERROR_INVALID_VALUE: yes
    HOLDS(cuMemGetAddressRange(&base, &size, (CUdeviceptr)(device + 100)) == CUDA_SUCCESS); //> cuMemGetAddressRange(&base, &size, (CUdeviceptr)(device + 100)) == CUDA_SUCCESS: yes
    HOLDS(base == (CUdeviceptr)device && size >= 10000); //> base == (CUdeviceptr)device && size >= 10000: yes
}
