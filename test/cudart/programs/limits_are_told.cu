// Limits have values, and a limit that is none is refused.
#include "show.h"

int main()
{
    size_t value;

    SHOW(cudaDeviceGetLimit(&value, cudaLimitStackSize)); //> cudaDeviceGetLimit(&value, cudaLimitStackSize): cudaSuccess
    HOLDS(value >= 1024);                                 //> value >= 1024: yes
    MUST(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    HOLDS(value == 8 << 20);                              //> value == 8 << 20: yes
    SHOW(cudaDeviceGetLimit(&value, (cudaLimit)1000));    //> cudaDeviceGetLimit(&value, (cudaLimit)1000): cudaErrorInvalidValue
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 4096));   //> cudaDeviceSetLimit(cudaLimitStackSize, 4096): cudaSuccess
}
