// A pool gives out no more than the maximum that it was made with.
#include "pool.h"

int main()
{
    cudaMemPoolProps props = {};
    cudaMemPool_t pool;
    cudaStream_t stream;
    void *a, *b;

    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.maxSize = 64 << 20;
    MUST(cudaMemPoolCreate(&pool, &props));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocFromPoolAsync(&a, 40 << 20, pool, stream));
    SHOW(cudaMallocFromPoolAsync(&b, 40 << 20, pool, stream)); //> cudaMallocFromPoolAsync(&b, 40 << 20, pool, stream): cudaErrorMemoryAllocation
    printf("%llu MiB are used\n", pool_tells(pool, USED) >> 20); //> 40 MiB are used
    MUST(cudaFreeAsync(a, stream));
    SHOW(cudaMallocFromPoolAsync(&b, 40 << 20, pool, stream)); //> cudaMallocFromPoolAsync(&b, 40 << 20, pool, stream): cudaSuccess
    MUST(cudaFreeAsync(b, stream));
    SHOW(cudaMallocFromPoolAsync(&b, 80 << 20, pool, stream)); //> cudaMallocFromPoolAsync(&b, 80 << 20, pool, stream): cudaErrorMemoryAllocation
    printf("%llu MiB are used\n", pool_tells(pool, USED) >> 20); //> 0 MiB are used
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemPoolDestroy(pool));
    return 0;
}
