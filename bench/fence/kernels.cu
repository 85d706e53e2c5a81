// Kernels by which the fence's cost is told (bench/fence/measure.c): what compilers make of plain CUDA
// C++, one for each way in which programs go to memory. kernels.ptx is
//   nvcc -O3 -arch=compute_80 -ptx -o bench/fence/kernels.ptx bench/fence/kernels.cu
#include <stdint.h>

#define KERNEL extern "C" __global__ void
#define INDEX  (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL triad(float *a, const float *b, const float *c, float s, unsigned n)
{
    for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x)
        a[i] = b[i] + s * c[i];
}

KERNEL gather(float *out, const float *in, const unsigned *index, unsigned n)
{
    for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[index[i]];
}

KERNEL nbody(float4 *acceleration, const float4 *body, unsigned n)
{
    __shared__ float4 tile[256];
    float4 me = body[INDEX];
    float x = 0, y = 0, z = 0;

    for (unsigned t = 0; t < n; t += 256) {
        tile[threadIdx.x] = body[t + threadIdx.x];
        __syncthreads();
#pragma unroll 16
        for (unsigned k = 0; k < 256; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), f = tile[k].w * r * r * r;

            x += f * dx, y += f * dy, z += f * dz;
        }
        __syncthreads();
    }
    acceleration[INDEX] = make_float4(x, y, z, 0);
}

// Naive on purpose: every operand comes from global memory.
// A sparse product of rows of EACH: compilers unroll the loop, and put its pointers in the middle.
KERNEL sparse(float *out, const float *value, const int *column, const float *in, int each, int rows)
{
    int row = INDEX;
    float sum = 0;

    if (row >= rows)
        return;
    for (int k = row * each; k < (row + 1) * each; k++)
        sum += value[k] * in[column[k]];
    out[row] = sum;
}

KERNEL sgemm(float *c, const float *a, const float *b, unsigned n)
{
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    for (unsigned k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

// As most programs have it: compilers move pointers through such a loop, and unroll it.
KERNEL sgemm_signed(float *c, const float *a, const float *b, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

KERNEL histogram(unsigned *bins, const unsigned *values, unsigned n)
{
    for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[values[i] & 0xfff], 1);
}

__constant__ float weights[81];

KERNEL convolution(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (x < 4 || y < 4 || x + 4 >= width || y + 4 >= height)
        return;
    for (int dy = -4; dy <= 4; dy++)
        for (int dx = -4; dx <= 4; dx++)
            sum += weights[(dy + 4) * 9 + dx + 4] * in[(y + dy) * width + x + dx];
    out[y * width + x] = sum;
}

// The same with unsigned places, which may wrap: 81 addresses, no two with a common base. The worst
// that a plain loop gives the fence.
KERNEL convolution_unsigned(float *out, const float *in, unsigned width, unsigned height)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (x < 4 || y < 4 || x + 4 >= width || y + 4 >= height)
        return;
    for (int dy = -4; dy <= 4; dy++)
        for (int dx = -4; dx <= 4; dx++)
            sum += weights[(dy + 4) * 9 + dx + 4] * in[(y + dy) * width + x + dx];
    out[y * width + x] = sum;
}

// One level: a vertex a thread, its edges one after the other.
KERNEL bfs(unsigned *distance, const unsigned *first, const unsigned *edges, unsigned level,
           unsigned vertices, unsigned *changed)
{
    unsigned v = INDEX;

    if (v >= vertices || distance[v] != level)
        return;
    for (unsigned e = first[v]; e < first[v + 1]; e++) {
        unsigned to = edges[e];

        if (distance[to] == 0xffffffff) {
            distance[to] = level + 1;
            *changed = 1;
        }
    }
}

// What a layer of a transformer spends its time in besides products of matrices: softmax of the
// scores of one row and the weighted sum of the values, a block a row.
KERNEL attention(float *out, const float *q, const float *k, const float *v, unsigned length)
{
    const unsigned WIDTH = 64;
    __shared__ float score[2048], sums[32];
    const float *query = q + (size_t)blockIdx.x * WIDTH;

    for (unsigned i = threadIdx.x; i < length; i += blockDim.x) {
        const float4 *key = (const float4 *)(k + (size_t)i * WIDTH);
        float sum = 0;

#pragma unroll
        for (unsigned j = 0; j < WIDTH / 4; j++) {
            float4 a = ((const float4 *)query)[j], b = key[j];

            sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        }
        score[i] = __expf(sum * 0.125f);
    }
    __syncthreads();
    float part = 0, total = 0;
    for (unsigned i = threadIdx.x; i < length; i += blockDim.x)
        part += score[i];
    for (unsigned d = 16; d; d /= 2)
        part += __shfl_xor_sync(~0u, part, d);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = part;
    __syncthreads();
    for (unsigned i = 0; i < blockDim.x / 32; i++)
        total += sums[i];
    if (threadIdx.x < WIDTH) {
        float sum = 0;

        for (unsigned i = 0; i < length; i++)
            sum += score[i] * v[(size_t)i * WIDTH + threadIdx.x];
        out[(size_t)blockIdx.x * WIDTH + threadIdx.x] = sum / total;
    }
}

KERNEL layernorm(float *out, const float *in, const float *scale, const float *bias, unsigned width)
{
    __shared__ float sums[2][32];
    const float *row = in + (size_t)blockIdx.x * width;
    float sum = 0, squares = 0;

    for (unsigned i = threadIdx.x; i < width; i += blockDim.x)
        sum += row[i], squares += row[i] * row[i];
    for (unsigned d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(~0u, sum, d);
        squares += __shfl_xor_sync(~0u, squares, d);
    }
    if (threadIdx.x % 32 == 0)
        sums[0][threadIdx.x / 32] = sum, sums[1][threadIdx.x / 32] = squares;
    __syncthreads();
    sum = squares = 0;
    for (unsigned i = 0; i < blockDim.x / 32; i++)
        sum += sums[0][i], squares += sums[1][i];
    float mean = sum / width, factor = rsqrtf(squares / width - mean * mean + 1e-5f);
    for (unsigned i = threadIdx.x; i < width; i += blockDim.x)
        out[(size_t)blockIdx.x * width + i] = (row[i] - mean) * factor * scale[i] + bias[i];
}

// Tiles of 64 x 64 in shared memory, 4 x 4 sums a thread, 16 x 16 threads.
KERNEL sgemm_tiled(float *c, const float *a, const float *b, unsigned n)
{
    __shared__ float left[16][68], right[16][64];
    unsigned tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};

    for (unsigned t = 0; t < n; t += 16) {
        unsigned r = threadIdx.x / 4, k = threadIdx.x % 4 * 4;
        float4 x = *(const float4 *)&a[(size_t)(row + r) * n + t + k];
        left[k][r] = x.x, left[k + 1][r] = x.y, left[k + 2][r] = x.z, left[k + 3][r] = x.w;
        *(float4 *)&right[ty][tx * 4] = *(const float4 *)&b[(size_t)(t + ty) * n + column + tx * 4];
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < 16; i++)
#pragma unroll
            for (unsigned y = 0; y < 4; y++)
#pragma unroll
                for (unsigned x2 = 0; x2 < 4; x2++)
                    sum[y][x2] += left[i][ty * 4 + y] * right[i][tx * 4 + x2];
        __syncthreads();
    }
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < 4; x++)
            c[(size_t)(row + ty * 4 + y) * n + column + tx * 4 + x] = sum[y][x];
}

// Four filtered samples of a texture for each place.
KERNEL texture_filter(float *out, cudaTextureObject_t t, unsigned width)
{
    unsigned x = INDEX % width, y = INDEX / width;
    float sum = 0;

    for (int i = 0; i < 4; i++)
        sum += tex2D<float>(t, x + 0.75f * i, y + 0.25f * i);
    out[INDEX] = sum;
}

// As gather, by a texture of linear memory.
KERNEL texture_fetch(float *out, cudaTextureObject_t t, const unsigned *index, unsigned n)
{
    for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x)
        out[i] = tex1Dfetch<float>(t, (int)index[i]);
}

// A place and its four neighbours on a surface.
KERNEL surface_stencil(float *out, cudaSurfaceObject_t s, unsigned width)
{
    int x = 4 * (INDEX % width), y = INDEX / width;
    float sum = surf2Dread<float>(s, x, y);

    sum += surf2Dread<float>(s, x - 4, y, cudaBoundaryModeZero);
    sum += surf2Dread<float>(s, x + 4, y, cudaBoundaryModeZero);
    sum += surf2Dread<float>(s, x, y - 1, cudaBoundaryModeZero);
    sum += surf2Dread<float>(s, x, y + 1, cudaBoundaryModeZero);
    out[INDEX] = sum;
}
