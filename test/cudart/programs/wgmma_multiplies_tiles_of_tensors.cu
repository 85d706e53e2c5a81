// A product as Hopper's libraries compute it: one warpgroup brings tiles by tensor copies, another one multiplies them.
#include "tensor_map.h"
#include <cuda_fp16.h>
#include <vector>

namespace ptx = cuda::ptx;

enum { M = 128, N = 64, K = 512, TILE = 64, STAGES = 3, TILE_BYTES = TILE * TILE * sizeof(__half) };

/* Both factors have rows of K; their tiles lie in lines of 128 bytes, whose parts are exchanged. */
struct factors {
    int rounds;
    CUtensorMap a, b;
};

__device__ static void multiply(float (&d)[32], uint64_t a, uint64_t b, int adds)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
                 "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
                   "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                   "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                   "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(adds));
}

__device__ static void await(uint64_t *barrier, unsigned phase)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, phase))
        ;
}

/* Of a tile in lines of 128 bytes, eight of which lie 1,024 bytes apart. */
__device__ static uint64_t descriptor(const void *tile)
{
    return (__cvta_generic_to_shared(tile) >> 4) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

__global__ void __launch_bounds__(256) gemm(const __grid_constant__ factors f, float *c)
{
    extern __shared__ unsigned char memory[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    unsigned char *tiles = memory + (1024 - __cvta_generic_to_shared(memory) % 1024) % 1024;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], 128);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        asm volatile("prefetch.tensormap [%0];" ::"l"(&f.a) : "memory");
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        for (int i = 0; threadIdx.x == 0 && i < f.rounds; i++) {
            const int s = i % STAGES;
            unsigned char *tile = tiles + 2 * TILE_BYTES * s;

            if (i >= STAGES)
                await(&empty[s], (i / STAGES - 1) & 1);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 2 * TILE_BYTES);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &f.a, {i * TILE, (int)blockIdx.x * TILE}, &full[s]);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile + TILE_BYTES, &f.b, {i * TILE, 0}, &full[s]);
        }
        return;
    }
    float d[32];

    for (int i = 0; i < f.rounds; i++) {
        const unsigned char *tile = tiles + 2 * TILE_BYTES * (i % STAGES);
        const uint64_t a = descriptor(tile), b = descriptor(tile + TILE_BYTES);

        await(&full[i % STAGES], (i / STAGES) & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < TILE / 16; k++)
            multiply(d, a + 2 * k, b + 2 * k, i || k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (i > 0)
            ptx::mbarrier_arrive(&empty[(i - 1) % STAGES]);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;

    for (int j = 0; j < 32; j++)
        c[(blockIdx.x * TILE + warp * 16 + lane / 4 + (j & 2) * 4) * N + j / 4 * 8 + lane % 4 * 2 + (j & 1)] = d[j];
}

static CUtensorMap map_of_rows(void *rows, unsigned count)
{
    return map_of({CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, rows, {K, count}, {K * sizeof(__half)}, {TILE, TILE}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B});
}

int main()
{
    const size_t shared = STAGES * 2 * TILE_BYTES + 1024;
    std::vector<__half> a(M * K), b(N * K);
    std::vector<float> c(M * N);
    factors f = {K / TILE};
    __half *on_device[2];
    float *out;
    int wrong = 0, major;

    MUST(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major != 9)
        exit(77);
    for (int i = 0; i < M * K; i++)
        a[i] = __float2half((float)((i * 7 + i / K * 3) % 9 - 4));
    for (int i = 0; i < N * K; i++)
        b[i] = __float2half((float)((i * 5 + i / K) % 7 - 3));
    MUST(cudaMalloc(&on_device[0], M * K * sizeof(__half)));
    MUST(cudaMalloc(&on_device[1], N * K * sizeof(__half)));
    MUST(cudaMalloc(&out, M * N * sizeof(float)));
    MUST(cudaMemcpy(on_device[0], a.data(), M * K * sizeof(__half), cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(on_device[1], b.data(), N * K * sizeof(__half), cudaMemcpyHostToDevice));
    f.a = map_of_rows(on_device[0], M);
    f.b = map_of_rows(on_device[1], N);
    MUST(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    gemm<<<M / TILE, 256, shared>>>(f, out);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaSuccess
    MUST(cudaMemcpy(c.data(), out, M * N * sizeof(float), cudaMemcpyDeviceToHost));
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;

            for (int k = 0; k < K; k++)
                sum += __half2float(a[m * K + k]) * __half2float(b[n * K + k]);
            wrong += sum != c[m * N + n];
        }
    HOLDS(wrong == 0); //> wrong == 0: yes
}
