// cudaFree takes a pool's memory too, once its work is done; a pointer to it is one to the device.
#include "pool.h"

int main()
{
    cudaMemPool_t pool = pool_make(0);
    cudaPointerAttributes attributes;
    cudaStream_t stream;
    char *p;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocFromPoolAsync(&p, 1000, pool, stream));
    HOLDS((size_t)p % 256 == 0); //> (size_t)p % 256 == 0: yes
    MUST(cudaMemsetAsync(p, 1, 1000, stream));
    MUST(cudaPointerGetAttributes(&attributes, p));
    HOLDS(attributes.type == cudaMemoryTypeDevice); //> attributes.type == cudaMemoryTypeDevice: yes
    MUST(cudaStreamSynchronize(stream));
    SHOW(cudaFree(p));                  //> cudaFree(p): cudaSuccess
    SHOW(cudaFree(p));                  //> cudaFree(p): cudaErrorInvalidValue
    SHOW(cudaFreeAsync(p, stream));     //> cudaFreeAsync(p, stream): cudaErrorInvalidValue
    MUST(cudaMemPoolDestroy(pool));
}
