// Bulk copies fill shared memory and complete the barriers that wait for their bytes, and carry shared memory back.
#include "show.h"
#include <cuda/barrier>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

enum { THREADS = 128, STAGES = 2, ROUNDS = 9, WORDS = 512 };

/* One thread feeds two stages by turns, all others work on what has come. */
__global__ void pipeline(const int *in, int *out)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full[STAGES];
    __shared__ alignas(128) int stage[STAGES][WORDS], back[WORDS];

    in += blockIdx.x * ROUNDS * WORDS;
    out += blockIdx.x * ROUNDS * WORDS;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++)
            init(&full[i], THREADS);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    for (int round = 0; round < ROUNDS; round++) {
        barrier &b = full[round % STAGES];
        int *words = stage[round % STAGES];
        barrier::arrival_token token;

        if (threadIdx.x == 0) {
            cuda::memcpy_async(words, in + round * WORDS, cuda::aligned_size_t<16>(sizeof(back)), b);
            token = cuda::device::barrier_arrive_tx(b, 1, 0);
        } else {
            token = b.arrive();
        }
        b.wait(std::move(token));
        for (int i = threadIdx.x; i < WORDS; i += THREADS)
            back[i] = words[WORDS - 1 - i] + round;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + round * WORDS, back, sizeof(back));
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
}

/* By hand: bytes are announced first, parity tells the phase, and a size that only the kernel knows. */
__global__ void by_hand(const char *in, char *out, unsigned size)
{
    __shared__ alignas(16) char tile[1024];
    __shared__ uint64_t object;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile), bar = (unsigned)__cvta_generic_to_shared(&object);

    tile[threadIdx.x] = 'x';
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    for (unsigned phase = 0; phase < 3; phase++) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(2 * size) : "memory");
            for (int half = 0; half < 2; half++)
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                                 to + half * 512),
                             "l"(__cvta_generic_to_global(in + phase * 2048 + half * 512)), "r"(size), "r"(bar)
                             : "memory");
        }
        asm volatile("{ .reg .pred done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra WAIT; }" ::"r"(
                         bar),
                     "r"(phase & 1)
                     : "memory");
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(__cvta_generic_to_global(out)),
                     "r"(to)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    const int blocks = 4, words = blocks * ROUNDS * WORDS;
    int *in, *out, *host = (int *)malloc(words * sizeof(int)), wrong = 0;
    char *bytes = (char *)host;

    MUST(cudaMalloc(&in, words * sizeof(int)));
    MUST(cudaMalloc(&out, words * sizeof(int)));
    for (int i = 0; i < words; i++)
        host[i] = i * 7;
    MUST(cudaMemcpy(in, host, words * sizeof(int), cudaMemcpyHostToDevice));
    pipeline<<<blocks, THREADS>>>(in, out);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    MUST(cudaMemcpy(host, out, words * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < words; i++)
        wrong += host[i] != (i / WORDS * WORDS + WORDS - 1 - i % WORDS) * 7 + i / WORDS % ROUNDS;
    HOLDS(wrong == 0); //> wrong == 0: yes

    for (int i = 0; i < 8192; i++)
        bytes[i] = (char)(i % 251);
    MUST(cudaMemcpy(in, bytes, 8192, cudaMemcpyHostToDevice));
    by_hand<<<1, 1024>>>((char *)in, (char *)out, 48);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    MUST(cudaMemcpy(bytes, out, 1024, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 1024; i++)
        wrong += bytes[i] != (i % 512 < 48 ? (char)((4096 + i) % 251) : 'x');
    HOLDS(wrong == 0); //> wrong == 0: yes
    free(host);
}
