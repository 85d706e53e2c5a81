// cuGetProcAddress, which the runtime finds, finds the driver's other functions, and tells which are not there or too young.
#include "driver_function.h"

int main()
{
    DRIVER(cuGetProcAddress, 12000);
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
    void *function = nullptr;

    MUST(cudaFree(nullptr));
    HOLDS(cuGetProcAddress("cuTensorMapEncodeTiled", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &result) == CUDA_SUCCESS); //> cuGetProcAddress("cuTensorMapEncodeTiled", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &result) == CUDA_SUCCESS: yes
    HOLDS(function != nullptr && result == CU_GET_PROC_ADDRESS_SUCCESS); //> function != nullptr && result == CU_GET_PROC_ADDRESS_SUCCESS: yes
    cuGetProcAddress("cuTensorMapEncodeTiled", &function, 11080, CU_GET_PROC_ADDRESS_DEFAULT, &result);
    HOLDS(function == nullptr); //> function == nullptr: yes
    HOLDS(result == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT); //> result == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT: yes
    cuGetProcAddress("cuNoSuchFunction", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &result);
    HOLDS(function == nullptr && result == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND); //> function == nullptr && result == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND: yes
}
