// A device keeps the flags that it was set or initialized with, and the preferred cache; wrong values change nothing.
#include "show.h"

static void tell()
{
    unsigned flags = 0;
    cudaFuncCache cache = cudaFuncCachePreferNone;

    MUST(cudaGetDeviceFlags(&flags));
    MUST(cudaDeviceGetCacheConfig(&cache));
    printf("schedule %u, cache %d\n", flags & cudaDeviceScheduleMask, cache);
}

int main()
{
    int valid[] = {0}, none[] = {1000}, chosen = -1;
    cudaDeviceProp wanted = {};

    MUST(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    MUST(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    tell(); //> schedule 4, cache 2
    MUST(cudaInitDevice(0, cudaDeviceScheduleYield, 0));
    tell(); //> schedule 4, cache 2
    MUST(cudaInitDevice(0, cudaDeviceScheduleYield, cudaInitDeviceFlagsAreValid));
    MUST(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    tell(); //> schedule 2, cache 1
    SHOW(cudaInitDevice(1000, 0, 0)); //> cudaInitDevice(1000, 0, 0): cudaErrorInvalidDevice
    SHOW(cudaSetDeviceFlags(~0u));    //> cudaSetDeviceFlags(~0u): cudaErrorInvalidValue
    SHOW(cudaInitDevice(0, ~0u, cudaInitDeviceFlagsAreValid)); //> cudaInitDevice(0, ~0u, cudaInitDeviceFlagsAreValid): cudaErrorInvalidValue
    tell(); //> schedule 2, cache 1

    SHOW(cudaSetValidDevices(valid, 1)); //> cudaSetValidDevices(valid, 1): cudaSuccess
    SHOW(cudaSetValidDevices(none, 1));  //> cudaSetValidDevices(none, 1): cudaErrorInvalidDevice
    SHOW(cudaSetValidDevices(NULL, 1));  //> cudaSetValidDevices(NULL, 1): cudaErrorInvalidValue
    wanted.major = 5;
    SHOW(cudaChooseDevice(&chosen, &wanted)); //> cudaChooseDevice(&chosen, &wanted): cudaSuccess
    HOLDS(chosen >= 0);                       //> chosen >= 0: yes
}
