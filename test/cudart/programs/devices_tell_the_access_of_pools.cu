// A pool is its own device's at first; another device's access to it can be asked for and taken away.
#include "devices.h"

int main()
{
    cudaMemAccessDesc none = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtNone};
    cudaMemAccessFlags flags;
    cudaMemLocation where = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool;

    two_needed();
    MUST(cudaDeviceGetDefaultMemPool(&pool, 0));
    for (where.id = 0; where.id < 2; where.id++) {
        MUST(cudaMemPoolGetAccess(&flags, pool, &where));
        printf("device %d: %d\n", where.id, flags); //> device 0: 3
                                                    //> device 1: 0
    }
    SHOW(cudaMemPoolSetAccess(pool, &none, 1)); //> cudaMemPoolSetAccess(pool, &none, 1): cudaSuccess
    none.location.id = 1000;
    SHOW(cudaMemPoolSetAccess(pool, &none, 1)); //> cudaMemPoolSetAccess(pool, &none, 1): cudaErrorInvalidDevice
}
