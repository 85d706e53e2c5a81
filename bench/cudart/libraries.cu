/* libraries.cu - rows of whole computations: Thrust and CUB from the toolkit's headers, and a GEMM
 * of f16 by the tensor cores (nvcuda::wmma) where CUTLASS's would be, which no toolkit has. */
#include <cmath>
#include <cub/device/device_scan.cuh>
#include <cuda_fp16.h>
#include <mma.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include "measure.h"

/* Runs it until the time is over, each with a wait, and takes the median. */
template <typename Before, typename Work>
static double median_ns(Before before, Work work)
{
    std::vector<double> samples;
    budget time(1);

    for (int i = 0; i < 200 && (i < 3 || time.left()); i++) {
        double start;

        before();
        MUST(cudaDeviceSynchronize());
        start = now_ns();
        work();
        MUST(cudaDeviceSynchronize());
        if (i > 0) /* the first loads kernels */
            samples.push_back(now_ns() - start);
    }
    return percentile(samples, 50);
}

__global__ void fill(unsigned *out, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = i * 2654435761u ^ i >> 7;
}

static void wrong(const char *what)
{
    fprintf(stderr, "%s: a wrong result\n", what);
    exit(1);
}

void row_sort()
{
    const unsigned count = quick ? 4096 : 1u << 24;
    thrust::device_vector<unsigned> v(count);
    double ns = median_ns(
        [&] { fill<<<(count + 255) / 256, 256>>>(thrust::raw_pointer_cast(v.data()), count); },
        [&] { thrust::sort(v.begin(), v.end()); });
    std::vector<unsigned> host(count);

    thrust::copy(v.begin(), v.end(), host.begin());
    if (!std::is_sorted(host.begin(), host.end()))
        wrong("thrust::sort");
    figure("sort", (double)count / ns * 1e9);
}

void row_scan()
{
    const unsigned count = quick ? 4096 : 1u << 26;
    unsigned *in, *out, last;
    size_t temporary_size = 0;
    void *temporary = NULL;
    std::vector<unsigned> host(count);
    double ns;

    MUST(cudaMalloc(&in, count * sizeof(*in)));
    MUST(cudaMalloc(&out, count * sizeof(*out)));
    MUST(cub::DeviceScan::InclusiveSum(temporary, temporary_size, in, out, count));
    MUST(cudaMalloc(&temporary, temporary_size));
    fill<<<(count + 255) / 256, 256>>>(in, count);
    ns = median_ns([] {},
                   [&] { MUST(cub::DeviceScan::InclusiveSum(temporary, temporary_size, in, out, count)); });
    MUST(cudaMemcpy(host.data(), in, count * sizeof(*in), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(&last, out + count - 1, sizeof(last), cudaMemcpyDeviceToHost));
    for (unsigned value : host)
        last -= value;
    if (last != 0)
        wrong("cub::DeviceScan");
    figure("scan", (double)count / ns * 1e9);
    MUST(cudaFree(temporary));
    MUST(cudaFree(out));
    MUST(cudaFree(in));
}

/* ---- C = A B of f16, sums of f32: tiles of 128 x 128 a block of 8 warps, 64 x 32 a warp, K by 32
 * through shared memory ------------------------------------------------------------------------- */

#define TILE   128
#define STEP   32
#define PAD    8 /* halves: rows begin at different banks */
#define WARP_M 64
#define WARP_N 32

__global__ void __launch_bounds__(256)
    gemm_f16(const half *__restrict__ a, const half *__restrict__ b, float *__restrict__ c, int n)
{
    using namespace nvcuda;
    __shared__ half tile_a[2][TILE][STEP + PAD];
    __shared__ half tile_b[2][STEP][TILE + PAD];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[WARP_M / 16][WARP_N / 16];
    int warp = threadIdx.x / 32, row = warp / 4 * WARP_M, column = warp % 4 * WARP_N;
    const half *a_block = a + (size_t)blockIdx.y * TILE * n, *b_block = b + blockIdx.x * TILE;
    uint4 next_a[2], next_b[2];

    for (int i = 0; i < WARP_M / 16; i++)
        for (int j = 0; j < WARP_N / 16; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);
    /* Each thread brings two pieces of 8 halves of each tile. */
    auto fetch = [&](int k) {
        for (int p = 0; p < 2; p++) {
            int piece = threadIdx.x + p * 256;

            next_a[p] = *(const uint4 *)(a_block + (size_t)(piece / 4) * n + k + piece % 4 * 8);
            next_b[p] = *(const uint4 *)(b_block + (size_t)(k + piece / 16) * n + piece % 16 * 8);
        }
    };
    auto store = [&](int buffer) {
        for (int p = 0; p < 2; p++) {
            int piece = threadIdx.x + p * 256;

            *(uint4 *)&tile_a[buffer][piece / 4][piece % 4 * 8] = next_a[p];
            *(uint4 *)&tile_b[buffer][piece / 16][piece % 16 * 8] = next_b[p];
        }
    };

    fetch(0);
    store(0);
    __syncthreads();
    for (int k = 0; k < n; k += STEP) {
        int buffer = k / STEP % 2;

        if (k + STEP < n)
            fetch(k + STEP);
        for (int kk = 0; kk < STEP; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[WARP_M / 16];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[WARP_N / 16];

            for (int i = 0; i < WARP_M / 16; i++)
                wmma::load_matrix_sync(fa[i], &tile_a[buffer][row + i * 16][kk], STEP + PAD);
            for (int j = 0; j < WARP_N / 16; j++)
                wmma::load_matrix_sync(fb[j], &tile_b[buffer][kk][column + j * 16], TILE + PAD);
            for (int i = 0; i < WARP_M / 16; i++)
                for (int j = 0; j < WARP_N / 16; j++)
                    wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
        }
        if (k + STEP < n)
            store(1 - buffer);
        __syncthreads();
    }
    for (int i = 0; i < WARP_M / 16; i++)
        for (int j = 0; j < WARP_N / 16; j++)
            wmma::store_matrix_sync(c + (size_t)(blockIdx.y * TILE + row + i * 16) * n +
                                        blockIdx.x * TILE + column + j * 16,
                                    sum[i][j], n, wmma::mem_row_major);
}

/* Small whole numbers, whose sums are exact. */
__global__ void fill_half(half *out, int count, int salt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = __int2half_rn((i % 61 + i / 4096 + salt) % 5 - 2);
}

void row_gemm()
{
    const int n = quick ? TILE : 4096;
    size_t count = (size_t)n * n;
    std::vector<half> host_a(n), host_b(count);
    half *a, *b;
    float *c, corner, wanted = 0;
    double ns;

    MUST(cudaMalloc(&a, count * sizeof(*a)));
    MUST(cudaMalloc(&b, count * sizeof(*b)));
    MUST(cudaMalloc(&c, count * sizeof(*c)));
    fill_half<<<(unsigned)((count + 255) / 256), 256>>>(a, (int)count, 0);
    fill_half<<<(unsigned)((count + 255) / 256), 256>>>(b, (int)count, 3);
    ns = median_ns([] {}, [&] { gemm_f16<<<dim3(n / TILE, n / TILE), 256>>>(a, b, c, n); });
    MUST(cudaGetLastError());
    /* One element, the last of the last row. */
    MUST(cudaMemcpy(host_a.data(), a + count - n, n * sizeof(*a), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(host_b.data(), b, count * sizeof(*b), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(&corner, c + count - 1, sizeof(corner), cudaMemcpyDeviceToHost));
    for (int k = 0; k < n; k++)
        wanted += __half2float(host_a[k]) * __half2float(host_b[(size_t)k * n + n - 1]);
    if (corner != wanted)
        wrong("gemm_f16");
    figure("gemm", 2.0 * n * n * n / ns * 1e9);
    MUST(cudaFree(c));
    MUST(cudaFree(b));
    MUST(cudaFree(a));
}
