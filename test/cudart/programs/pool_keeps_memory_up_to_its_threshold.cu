// A pool keeps what is freed up to its release threshold when its stream is waited for, and gives it
// back when it is trimmed.
#include "pool.h"

int main()
{
    const size_t size = 8 << 20;
    cudaMemPool_t pool = pool_make(~0ull);
    cudaStream_t stream;
    void *p;

    MUST(cudaStreamCreate(&stream));
    HOLDS(pool_tells(pool, RESERVED) == 0); //> pool_tells(pool, RESERVED) == 0: yes
    MUST(cudaMallocFromPoolAsync(&p, size, pool, stream));
    HOLDS(pool_tells(pool, RESERVED) >= size); //> pool_tells(pool, RESERVED) >= size: yes
    HOLDS(pool_tells(pool, USED) >= size);     //> pool_tells(pool, USED) >= size: yes
    SHOW(cudaMemPoolTrimTo(pool, 0));          //> cudaMemPoolTrimTo(pool, 0): cudaSuccess
    HOLDS(pool_tells(pool, RESERVED) >= size); //> pool_tells(pool, RESERVED) >= size: yes
    MUST(cudaFreeAsync(p, stream));
    MUST(cudaStreamSynchronize(stream));
    HOLDS(pool_tells(pool, USED) == 0);        //> pool_tells(pool, USED) == 0: yes
    HOLDS(pool_tells(pool, RESERVED) >= size); //> pool_tells(pool, RESERVED) >= size: yes
    SHOW(cudaMemPoolTrimTo(pool, 1ull << 40)); //> cudaMemPoolTrimTo(pool, 1ull << 40): cudaSuccess
    HOLDS(pool_tells(pool, RESERVED) >= size); //> pool_tells(pool, RESERVED) >= size: yes
    SHOW(cudaMemPoolTrimTo(pool, 0));          //> cudaMemPoolTrimTo(pool, 0): cudaSuccess
    HOLDS(pool_tells(pool, RESERVED) == 0);    //> pool_tells(pool, RESERVED) == 0: yes
    MUST(cudaMallocFromPoolAsync(&p, 100, pool, stream));
    SHOW(cudaFreeAsync(p, stream));            //> cudaFreeAsync(p, stream): cudaSuccess
    SHOW(cudaMemPoolDestroy(pool));            //> cudaMemPoolDestroy(pool): cudaSuccess
    SHOW(cudaMemPoolTrimTo(pool, 0));          //> cudaMemPoolTrimTo(pool, 0): cudaErrorInvalidValue
}
