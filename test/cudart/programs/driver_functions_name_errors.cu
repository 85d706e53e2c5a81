// The driver's names of errors, and their texts; a number that is no error has none.
#include "driver_function.h"

int main()
{
    DRIVER(cuGetErrorName, 6000);
    DRIVER(cuGetErrorString, 6000);
    const char *text = nullptr;

    for (CUresult error : {CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED}) {
        cuGetErrorName(error, &text);
        printf("%s: ", text);
        cuGetErrorString(error, &text);
        printf("%s\n", text);
    }
    //> CUDA_SUCCESS: no error
    //> CUDA_ERROR_OUT_OF_MEMORY: out of memory
    //> CUDA_ERROR_INVALID_HANDLE: invalid resource handle
    //> CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered
    //> CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure
    HOLDS(cuGetErrorName((CUresult)12345, &text) == CUDA_ERROR_INVALID_VALUE); //> cuGetErrorName((CUresult)12345, &text) == CUDA_ERROR_INVALID_VALUE: yes
    HOLDS(text == nullptr); //> text == nullptr: yes
}
