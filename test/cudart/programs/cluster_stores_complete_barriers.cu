// st.async stores to another block of the cluster and tells a barrier there of the bytes: who waits at the barrier sees them.
#include "show.h"
#include <stdint.h>

enum { BLOCKS = 4, WORDS = 32 };

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ unsigned in_block(unsigned address, unsigned rank)
{
    unsigned there;

    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

__global__ void __cluster_dims__(BLOCKS) pass_on(unsigned *seen)
{
    __shared__ unsigned words[WORDS];
    __shared__ uint64_t barrier;
    unsigned thread = threadIdx.x, next = (blockIdx.x + 1) % BLOCKS, done = 0;

    if (thread == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(4 * WORDS));
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     in_block(shared_address(&words[thread]), next)),
                 "r"(blockIdx.x * 100 + thread), "r"(in_block(shared_address(&barrier), next))
                 : "memory");
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(shared_address(&barrier)) : "memory");
    seen[blockIdx.x * WORDS + thread] = words[thread];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

int main()
{
    unsigned *seen, wrong = 0;

    setenv("GSHARE_FENCE", "strict", 1);
    MUST(cudaMallocManaged(&seen, BLOCKS * WORDS * sizeof(*seen)));
    pass_on<<<BLOCKS, WORDS>>>(seen);
    MUST(cudaDeviceSynchronize());
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned i = 0; i < WORDS; i++)
            wrong += seen[b * WORDS + i] != (b + BLOCKS - 1) % BLOCKS * 100 + i;
    HOLDS(wrong == 0); //> wrong == 0: yes
}
