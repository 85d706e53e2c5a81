// cudaGetErrorName and cudaGetErrorString know all codes, and say so of others.
#include "show.h"

static void both(int error)
{
    printf("%s: %s\n", cudaGetErrorName((cudaError_t)error), cudaGetErrorString((cudaError_t)error));
}

int main()
{
    both(0);     //> cudaSuccess: no error
    both(1);     //> cudaErrorInvalidValue: invalid argument
    both(2);     //> cudaErrorMemoryAllocation: out of memory
    both(9);     //> cudaErrorInvalidConfiguration: invalid configuration argument
    both(98);    //> cudaErrorInvalidDeviceFunction: invalid device function
    both(209);   //> cudaErrorNoKernelImageForDevice: no kernel image is available for execution on the device
    both(600);   //> cudaErrorNotReady: device not ready
    both(700);   //> cudaErrorIllegalAddress: an illegal memory access was encountered
    both(719);   //> cudaErrorLaunchFailure: unspecified launch failure
    both(801);   //> cudaErrorNotSupported: operation not supported
    both(999);   //> cudaErrorUnknown: unknown error
    both(12345); //> unrecognized error code: unrecognized error code
}
