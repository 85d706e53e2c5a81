// soft.cu - what the software device's speed is measured with: n-body and a tiled matrix product. soft.ptx is made from it
// by `make ptx` (clang, no toolkit needed); soft.c launches it.
#include "../../examples/cuda_words.h"

enum { TILE = 64, SIDE = 16 };

struct alignas(16) body {
    float x, y, z, w;
};

extern "C" {

// Blocks of TILE threads, a body each; n is a multiple of TILE.
__global__ void nbody(const body *all, body *out, int n)
{
    __shared__ body tile[TILE];
    body me = all[blockIdx.x * TILE + threadIdx.x];
    float ax = 0, ay = 0, az = 0;

    for (int t = 0; t < n; t += TILE) {
        tile[threadIdx.x] = all[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r = __nvvm_rsqrt_approx_ftz_f(dx * dx + dy * dy + dz * dz + 0.01f);
            float w = tile[k].w * r * r * r;

            ax += dx * w;
            ay += dy * w;
            az += dz * w;
        }
        __syncthreads();
    }
    out[blockIdx.x * TILE + threadIdx.x] = {ax, ay, az, 0};
}

// c = a b, n x n each; blocks of SIDE x SIDE threads, an element each; n is a multiple of SIDE.
__global__ void sgemm(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[SIDE][SIDE], t[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * SIDE + tx, y = blockIdx.y * SIDE + ty;
    float sum = 0;

    for (int k = 0; k < n; k += SIDE) {
        s[ty][tx] = a[y * n + k + tx];
        t[ty][tx] = b[(k + ty) * n + x];
        __syncthreads();
        for (int i = 0; i < SIDE; i++)
            sum += s[ty][i] * t[i][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

__global__ void nothing()
{
}
}
