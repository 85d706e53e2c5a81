// What pools refuse.
#include "show.h"

int main()
{
    cudaMemPool_t pool;
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    cudaMemAccessFlags flags;
    unsigned long long value = 5;

    MUST(cudaDeviceGetDefaultMemPool(&pool, 0));
    SHOW(cudaDeviceGetDefaultMemPool(&pool, 99)); //> cudaDeviceGetDefaultMemPool(&pool, 99): cudaErrorInvalidDevice
    SHOW(cudaMemPoolDestroy(pool)); //> cudaMemPoolDestroy(pool): cudaErrorInvalidValue
    SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value)); //> cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value): cudaErrorInvalidValue
    MUST(cudaMemPoolGetAccess(&flags, pool, &device));
    HOLDS(flags == cudaMemAccessFlagsProtReadWrite); //> flags == cudaMemAccessFlagsProtReadWrite: yes
    SHOW(cudaFreeAsync(nullptr, 0)); //> cudaFreeAsync(nullptr, 0): cudaSuccess
}
