/* Forces among bodies, through tiles of float4 in shared memory. */
#include "corpus.h"

#ifdef DEVICE_CODE
struct alignas(16) body {
    float x, y, z, w;
};

KERNEL nbody(const body *p, body *out, int n)
{
    __shared__ body tile[64];
    body me = p[INDEX];
    float ax = 0, ay = 0, az = 0;

    for (int t = 0; t < n; t += 64) {
        tile[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float d = dx * dx + dy * dy + dz * dz + 0.01f, r = 1.0f / __builtin_sqrtf(d);
            float w = tile[k].w * r * r * r;
            ax += dx * w;
            ay += dy * w;
            az += dz * w;
        }
        __syncthreads();
    }
    out[INDEX] = {ax, ay, az, 0};
}
#else
CASE(nbody)
{
    int n = 256;
    float *p = scratch(16 * n), *want = scratch(16 * n), *got = scratch(16 * n);

    for (int i = 0; i < 4 * n; i++)
        p[i] = random_f32(-1, 1);
    for (int i = 0; i < n; i++) {
        double a[3] = {0};
        for (int k = 0; k < n; k++) {
            double d[3], square = 0.01;
            for (int c = 0; c < 3; c++) {
                d[c] = (double)p[4 * k + c] - (double)p[4 * i + c];
                square += d[c] * d[c];
            }
            for (int c = 0; c < 3; c++)
                a[c] += d[c] * (double)p[4 * k + 3] / (square * sqrt(square));
        }
        for (int c = 0; c < 3; c++)
            want[4 * i + c] = (float)a[c];
    }
    device_ptr dp = upload(p, 16 * n), dout = zeros(16 * n);
    RUN("nbody", n / 64, 64, &dp, &dout, &n);
    download(got, dout, 16 * n);
    expect_f32(got, want, 4 * n, 1e-3, 2e-2);
}
#endif
