// A pool tells the most that it has held and given out, until that is set back.
#include "pool.h"

int main()
{
    cudaMemPool_t pool = pool_make(~0ull);
    unsigned long long zero = 0, one = 1;
    cudaStream_t stream;
    void *p, *q;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocFromPoolAsync(&p, 4 << 20, pool, stream));
    MUST(cudaMallocFromPoolAsync(&q, 6 << 20, pool, stream));
    MUST(cudaFreeAsync(q, stream));
    MUST(cudaStreamSynchronize(stream));
    HOLDS(pool_tells(pool, USED) >= 4 << 20);                             //> pool_tells(pool, USED) >= 4 << 20: yes
    HOLDS(pool_tells(pool, USED) < 10 << 20);                             //> pool_tells(pool, USED) < 10 << 20: yes
    HOLDS(pool_tells(pool, USED_HIGH) >= 10 << 20);                       //> pool_tells(pool, USED_HIGH) >= 10 << 20: yes
    HOLDS(pool_tells(pool, RESERVED_HIGH) >= pool_tells(pool, RESERVED)); //> pool_tells(pool, RESERVED_HIGH) >= pool_tells(pool, RESERVED): yes
    HOLDS(pool_tells(pool, RESERVED) >= pool_tells(pool, USED));          //> pool_tells(pool, RESERVED) >= pool_tells(pool, USED): yes
    SHOW(cudaMemPoolSetAttribute(pool, USED_HIGH, &one));                 //> cudaMemPoolSetAttribute(pool, USED_HIGH, &one): cudaErrorInvalidValue
    SHOW(cudaMemPoolSetAttribute(pool, USED, &zero));                     //> cudaMemPoolSetAttribute(pool, USED, &zero): cudaErrorInvalidValue
    SHOW(cudaMemPoolSetAttribute(pool, USED_HIGH, &zero));                //> cudaMemPoolSetAttribute(pool, USED_HIGH, &zero): cudaSuccess
    HOLDS(pool_tells(pool, USED_HIGH) == pool_tells(pool, USED));         //> pool_tells(pool, USED_HIGH) == pool_tells(pool, USED): yes
    SHOW(cudaMemPoolSetAttribute(pool, RESERVED_HIGH, &zero));            //> cudaMemPoolSetAttribute(pool, RESERVED_HIGH, &zero): cudaSuccess
    HOLDS(pool_tells(pool, RESERVED_HIGH) == pool_tells(pool, RESERVED)); //> pool_tells(pool, RESERVED_HIGH) == pool_tells(pool, RESERVED): yes
    MUST(cudaFreeAsync(p, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemPoolDestroy(pool));
}
