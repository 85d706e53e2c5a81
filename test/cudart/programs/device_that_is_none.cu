// A device's number is below the count, and an attribute has to be one.
#include "show.h"

int main()
{
    cudaDeviceProp p;
    int value;

    SHOW(cudaSetDevice(1000));                                                  //> cudaSetDevice(1000): cudaErrorInvalidDevice
    SHOW(cudaGetDeviceProperties(&p, 1000));                                    //> cudaGetDeviceProperties(&p, 1000): cudaErrorInvalidDevice
    SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1000));            //> cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1000): cudaErrorInvalidDevice
    SHOW(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)100000, 0));            //> cudaDeviceGetAttribute(&value, (cudaDeviceAttr)100000, 0): cudaErrorInvalidValue
    SHOW(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));              //> cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0): cudaErrorInvalidValue
    SHOW(cudaSetDevice(0));                                                     //> cudaSetDevice(0): cudaSuccess
}
