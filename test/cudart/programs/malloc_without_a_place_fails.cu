// A NULL out-parameter is an invalid value.
#include "show.h"

int main()
{
    SHOW(cudaMalloc((void **)nullptr, 16)); //> cudaMalloc((void **)nullptr, 16): cudaErrorInvalidValue
    SHOW(cudaGetDeviceCount(nullptr));      //> cudaGetDeviceCount(nullptr): cudaErrorInvalidValue
    SHOW(cudaPeekAtLastError());            //> cudaPeekAtLastError(): cudaErrorInvalidValue
}
