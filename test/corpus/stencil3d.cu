/* A 27-point mean over a three-dimensional grid of blocks. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL mean27(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    float sum = 0;
    int count = 0;

    if (x >= n || y >= n || z >= n)
        return;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int i = x + dx, j = y + dy, k = z + dz;
                if (i < 0 || j < 0 || k < 0 || i >= n || j >= n || k >= n)
                    continue;
                sum += in[(k * n + j) * n + i];
                count++;
            }
    out[(z * n + y) * n + x] = sum / count;
}
#else
CASE(stencil3d)
{
    int n = 13, cells = n * n * n;
    float *in = scratch(4 * cells), *want = scratch(4 * cells), *got = scratch(4 * cells);

    for (int i = 0; i < cells; i++)
        in[i] = random_f32(-1, 1);
    for (int c = 0; c < cells; c++) {
        int x = c % n, y = c / n % n, z = c / n / n, count = 0;
        float sum = 0;
        for (int d = 0; d < 27; d++) {
            int i = x + d % 3 - 1, j = y + d / 3 % 3 - 1, k = z + d / 9 - 1;
            if (i < 0 || j < 0 || k < 0 || i >= n || j >= n || k >= n)
                continue;
            sum += in[(k * n + j) * n + i];
            count++;
        }
        want[c] = sum / (float)count;
    }
    device_ptr din = upload(in, 4 * cells), dout = zeros(4 * cells);
    launch("mean27", (struct size3){4, 4, 4}, (struct size3){4, 4, 4}, 0, ARGS(&din, &dout, &n));
    download(got, dout, 4 * cells);
    expect_f32(got, want, cells, 1e-6, 1e-7);
}
#endif
