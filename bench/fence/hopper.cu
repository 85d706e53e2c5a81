// A product of matrices as Hopper's libraries compute it, by which is told what the fence costs there (bench/fence/measure.c):
// a warp brings tiles by tensor copies, and two warpgroups multiply them, one product under way while the next is begun.
// hopper.ptx is
//   nvcc -O3 -std=c++17 -arch=compute_90a -ptx -o bench/fence/hopper.ptx bench/fence/hopper.cu
#include <cstdint>
#include <cuda.h>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

// A block has 128 x 128 sums; a tile 64 of the depth, in lines of 128 bytes.
enum { ROWS = 128, COLUMNS = 128, DEPTH = 64, STAGES = 4, TILE = ROWS * DEPTH * 2 };

struct factors {
    CUtensorMap a, b; // both have rows of the depth
    float *c;
    unsigned n, depth;
};

#define D8(i)                                                                                                                  \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

__device__ static void multiply(float (&d)[64], uint64_t a, uint64_t b, int adds)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, "
        "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, "
        "p, 1, 1, 0, 0; }"
        : D8(0), D8(8), D8(16), D8(24), D8(32), D8(40), D8(48), D8(56)
        : "l"(a), "l"(b), "r"(adds));
}

__device__ static void await(uint64_t *barrier, unsigned phase)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, phase))
        ;
}

// Of a tile in lines of 128 bytes, whose pieces are exchanged; eight lines lie 1,024 bytes apart.
__device__ static uint64_t descriptor(const void *tile)
{
    return (__cvta_generic_to_shared(tile) >> 4) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

extern "C" __global__ void __launch_bounds__(384) hopper_gemm(const __grid_constant__ factors f)
{
    extern __shared__ unsigned char memory[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    unsigned char *tiles = memory + (1024 - __cvta_generic_to_shared(memory) % 1024) % 1024;
    const unsigned row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS, rounds = f.depth / DEPTH;
    const unsigned group = threadIdx.x / 128;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], 256);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (group == 0) {
        for (unsigned i = 0; threadIdx.x == 0 && i < rounds; i++) {
            const unsigned s = i % STAGES;

            if (i >= STAGES)
                await(&empty[s], (i / STAGES - 1) & 1);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 2 * TILE);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tiles + 2 * TILE * s, &f.a, {(int)(i * DEPTH), (int)row},
                                      &full[s]);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tiles + 2 * TILE * s + TILE, &f.b,
                                      {(int)(i * DEPTH), (int)column}, &full[s]);
        }
        return;
    }
    float d[64] = {0};

    for (unsigned i = 0; i < rounds; i++) {
        const unsigned s = i % STAGES;
        const uint64_t a = descriptor(tiles + 2 * TILE * s + (group - 1) * TILE / 2), b = descriptor(tiles + 2 * TILE * s + TILE);

        await(&full[s], (i / STAGES) & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < DEPTH / 16; k++)
            multiply(d, a + 2 * k, b + 2 * k, 1);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (i > 0)
            ptx::mbarrier_arrive(&empty[(i - 1) % STAGES]);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    const unsigned warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;

    for (unsigned j = 0; j < 64; j++)
        f.c[(size_t)(row + (group - 1) * 64 + warp * 16 + lane / 4 + (j & 2) * 4) * f.n + column + j / 4 * 8 + lane % 4 * 2 + (j & 1)] =
            d[j];
}
