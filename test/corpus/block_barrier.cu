/* Producers and consumers by barrier objects in shared memory: phases, arrivals of many, bytes that are waited for.
 * arch: 90
 * clang: no (clang 14 does not take libcu++) */
#include "corpus.h"

#ifdef DEVICE_CODE
#include <cuda/barrier>
#include <cuda/ptx>

/* Warp 0 fills two buffers in turns, the other warps sum them up. */
KERNEL relay(const int *in, int *sums, int rounds)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ int buffers[2][32];
    __shared__ alignas(8) unsigned char storage[4][sizeof(barrier)];
    barrier *full = reinterpret_cast<barrier *>(storage), *empty = full + 2;

    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) {
            init(full + i, 32);
            init(empty + i, blockDim.x - 32);
        }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
            if (r >= 2)
                empty[r % 2].wait_parity((r / 2 - 1) & 1);
            buffers[r % 2][threadIdx.x] = in[(blockIdx.x * rounds + r) * 32 + threadIdx.x];
            (void)full[r % 2].arrive();
        }
        return;
    }
    int sum = 0;
    for (int r = 0; r < rounds; r++) {
        full[r % 2].wait_parity(r / 2 & 1);
        sum += buffers[r % 2][(threadIdx.x + r) % 32] * (r + 1);
        (void)empty[r % 2].arrive();
    }
    sums[blockIdx.x * (blockDim.x - 32) + threadIdx.x - 32] = sum;
}

/* Thread 0 waits for bytes that the others say have come. */
KERNEL bytes(const int *in, int *out)
{
    __shared__ uint64_t bar;
    __shared__ int box[128];

    if (threadIdx.x == 0) {
        cuda::ptx::mbarrier_init(&bar, 1);
        cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, &bar, 4 * 127);
    }
    __syncthreads();
    if (threadIdx.x) {
        box[threadIdx.x] = in[threadIdx.x];
        __threadfence_block();
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&bar)) : "memory");
        return;
    }
    while (!cuda::ptx::mbarrier_try_wait_parity(&bar, 0))
        ;
    int sum = 0;
    for (int i = 1; i < 128; i++)
        sum += box[i];
    *out = sum;
}
#else
CASE(block_barrier)
{
    enum { BLOCKS = 3, ROUNDS = 9, CONSUMERS = 96 };
    int in[BLOCKS * ROUNDS * 32], want[BLOCKS * CONSUMERS] = {0}, got[BLOCKS * CONSUMERS], rounds = ROUNDS, sum = 0, one;

    for (int i = 0; i < BLOCKS * ROUNDS * 32; i++)
        in[i] = (int)(random_u32() % 1000) - 500;
    for (int b = 0; b < BLOCKS; b++)
        for (int t = 0; t < CONSUMERS; t++)
            for (int r = 0; r < ROUNDS; r++)
                want[b * CONSUMERS + t] += in[(b * ROUNDS + r) * 32 + (t + r) % 32] * (r + 1);
    device_ptr din = upload(in, sizeof in), dout = zeros(sizeof got), done = zeros(4);
    RUN("relay", BLOCKS, CONSUMERS + 32, &din, &dout, &rounds);
    download(got, dout, sizeof got);
    expect_u32((uint32_t *)got, (uint32_t *)want, BLOCKS * CONSUMERS);

    RUN("bytes", 1, 128, &din, &done);
    download(&one, done, 4);
    for (int i = 1; i < 128; i++)
        sum += in[i];
    expect_u32((uint32_t *)&one, (uint32_t *)&sum, 1);
}
#endif
