/* Matrix products: one element per thread, tiled, and 4 x 4 elements per thread. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL gemm_naive(const float *a, const float *b, float *c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (x >= n || y >= n)
        return;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

KERNEL gemm_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[16][16], t[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;

    for (int k = 0; k < n; k += 16) {
        s[ty][tx] = y < n && k + tx < n ? a[y * n + k + tx] : 0;
        t[ty][tx] = x < n && k + ty < n ? b[(k + ty) * n + x] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += s[ty][i] * t[i][tx];
        __syncthreads();
    }
    if (x < n && y < n)
        c[y * n + x] = sum;
}

KERNEL gemm_blocked(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[8][64], t[8][64];
    int tid = threadIdx.x, tx = tid % 16, ty = tid / 16, x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
    float acc[4][4] = {};

    for (int k = 0; k < n; k += 8) {
        for (int i = tid; i < 512; i += 256) {
            int y = y0 + i / 8, x = x0 + i % 64;
            s[i % 8][i / 8] = y < n && k + i % 8 < n ? a[y * n + k + i % 8] : 0;
            t[i / 64][i % 64] = x < n && k + i / 64 < n ? b[(k + i / 64) * n + x] : 0;
        }
        __syncthreads();
        for (int d = 0; d < 8; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    acc[i][j] += s[d][ty * 4 + i] * t[d][tx * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int y = y0 + ty * 4 + i, x = x0 + tx * 4 + j;
            if (y < n && x < n)
                c[y * n + x] = acc[i][j];
        }
}
#else
CASE(gemm)
{
    int n = 71;
    float *a = scratch(4 * n * n), *b = scratch(4 * n * n), *want = scratch(4 * n * n), *got = scratch(4 * n * n);

    for (int i = 0; i < n * n; i++)
        a[i] = random_f32(-1, 1), b[i] = random_f32(-1, 1);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += (double)a[y * n + k] * (double)b[k * n + x];
            want[y * n + x] = (float)sum;
        }
    device_ptr da = upload(a, 4 * n * n), db = upload(b, 4 * n * n);
    static const struct {
        const char *kernel;
        struct size3 grid, block;
    } ways[] = {{"gemm_naive", {5, 5, 1}, {16, 16, 1}},
                {"gemm_tiled", {5, 5, 1}, {16, 16, 1}},
                {"gemm_blocked", {2, 2, 1}, {256, 1, 1}}};
    for (int i = 0; i < 3; i++) {
        device_ptr dc = zeros(4 * n * n);
        launch(ways[i].kernel, ways[i].grid, ways[i].block, 0, ARGS(&da, &db, &dc, &n));
        download(got, dc, 4 * n * n);
        expect_f32(got, want, n * n, 1e-4, 1e-5);
    }
}
#endif
