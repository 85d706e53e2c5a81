// When wgmma.wait_group has returned in one warp, no warp of the four reads the operands any more: a thread says so for all.
#include "wgmma.h"
#include <cuda/ptx>

namespace ptx = cuda::ptx;

enum { N = 8, K = 16, ROUNDS = 12, STAGES = 2 };

__host__ __device__ static int left(int row, int k)
{
    return (row * 7 + k * 3) % 9 - 4;
}

__host__ __device__ static int right(int round, int k, int column)
{
    return (round * 5 + k + 2 * column) % 7 - 3;
}

__device__ static void await(uint64_t *barrier, unsigned phase)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, phase & 1))
        ;
}

/* Chunks of eight along the depth, each of them a column: without a swizzle. */
__device__ static uint64_t descriptor_of(const void *at, unsigned rows)
{
    return __cvta_generic_to_shared(at) >> 4 | (uint64_t)rows << 16 | (uint64_t)8 << 32;
}

/* The fifth warp writes the right factors, of which there is room for two. */
__global__ void pipeline(float *out)
{
    __shared__ alignas(128) __half a[K / 8][ROWS][8], b[STAGES][K / 8][N][8];
    __shared__ uint64_t full[STAGES], empty[STAGES];

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            ptx::mbarrier_init(&full[i], 1);
            ptx::mbarrier_init(&empty[i], 1);
        }
    }
    for (int i = threadIdx.x; i < ROWS * K; i += blockDim.x)
        a[i % K / 8][i / K][i % 8] = __float2half((float)left(i / K, i % K));
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x >= THREADS) {
        for (int round = 0; round < ROUNDS; round++) {
            const int stage = round % STAGES;

            if (round >= STAGES)
                await(&empty[stage], round / STAGES - 1);
            for (int i = threadIdx.x - THREADS; i < N * K; i += 32)
                b[stage][i % K / 8][i / K][i % 8] = __float2half((float)right(round, i % K, i / K));
            ptx::fence_proxy_async(ptx::space_shared);
            __syncwarp();
            if (threadIdx.x == THREADS)
                ptx::mbarrier_arrive(&full[stage]);
        }
        return;
    }
    float d[4] = {};
    for (int round = 0; round < ROUNDS; round++) {
        await(&full[round % STAGES], round / STAGES);
        if (threadIdx.x / 32 == 2) /* a warp that is late */
            __nanosleep(20000);
        asm volatile("wgmma.fence.sync.aligned;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n"
                     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "l"(descriptor_of(a, ROWS)), "l"(descriptor_of(b[round % STAGES], N))
                     : "memory");
        if (threadIdx.x == 0 && round > 0)
            ptx::mbarrier_arrive(&empty[(round - 1) % STAGES]);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

static int wrong_sums(const float *sums)
{
    int n = 0, row, column;

    for (int i = 0; i < THREADS * 4; i++) {
        int sum = 0;

        fragment_of_d(i / 4, i % 4, &row, &column);
        for (int round = 0; round < ROUNDS; round++)
            for (int k = 0; k < K; k++)
                sum += left(row, k) * right(round, k, column);
        n += sums[i] != (float)sum;
    }
    return n;
}

int main()
{
    float *out, sums[THREADS * 4];

    need_wgmma();
    MUST(cudaMalloc(&out, sizeof(sums)));
    pipeline<<<1, THREADS + 32>>>(out);
    MUST(cudaMemcpy(sums, out, sizeof(sums), cudaMemcpyDeviceToHost));
    HOLDS(wrong_sums(sums) == 0); //> wrong_sums(sums) == 0: yes
}
