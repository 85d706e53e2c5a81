// float8.cu - products of floats of 8 bits, e4m3 and e5m2, with their scales. A block computes a
// tile of D, a thread four elements of it.
#include "cublas/kernels/words.h"

#define SIDE  16         // threads along a side of the tile
#define TILE  (2 * SIDE) // elements along a side
#define DEPTH 16

typedef unsigned char byte;

// ---- Elements of any type ----

// Converts an e4m3. Its bits read as an f16 give a 256th of its value, since the exponent's bias is
// 7 in an e4m3 and 15 in an f16.
INLINE float from_e4m3(unsigned x)
{
    if ((x & 0x7f) == 0x7f)
        return __builtin_nanf("");
    return 256 * convert<float>::from(f16((unsigned short)((x & 0x80) << 8 | (x & 0x7f) << 7)));
}

INLINE float element_read(u64 address, long long index, unsigned type)
{
    switch (type) {
    case SCALAR_E4M3:
        return from_e4m3(((const GLOBAL byte *)address)[index]);
    case SCALAR_E5M2: // the upper half of an f16
        return convert<float>::from(
            f16((unsigned short)(((const GLOBAL byte *)address)[index] << 8)));
    case SCALAR_F16:
        return convert<float>::from(f16(((const GLOBAL unsigned short *)address)[index]));
    case SCALAR_BF16:
        return convert<float>::from(bf16(((const GLOBAL unsigned short *)address)[index]));
    default:
        return ((const GLOBAL float *)address)[index];
    }
}

// Rounds to the nearest number, at most to `largest`. The fraction has `digits` bits; `least`, a
// power of two, is the smallest normal number.
INLINE byte to_float8(float x, int digits, int bias, float least, float largest)
{
    const unsigned sign = __builtin_bit_cast(unsigned, x) >> 24 & 0x80;
    float size = x < 0 ? -x : x;
    unsigned bits;

    if (x != x)
        return 0x7f;
    size = size < largest ? size : largest;
    if (size < least) {
        asm("cvt.rni.u32.f32 %0, %1;" : "=r"(bits) : "f"(size * ((1 << digits) / least)));
        return (byte)(sign | bits);
    }
    bits = __builtin_bit_cast(unsigned, size);
    bits += (1u << (22 - digits)) - 1 + (bits >> (23 - digits) & 1);
    return (byte)(sign | ((bits >> (23 - digits)) - ((127u - bias) << digits)));
}

INLINE void element_write(u64 address, long long index, unsigned type, float x)
{
    switch (type) {
    case SCALAR_E4M3:
        ((GLOBAL byte *)address)[index] = to_float8(x, 3, 7, 0x1p-6f, 448);
        break;
    case SCALAR_E5M2:
        ((GLOBAL byte *)address)[index] = to_float8(x, 2, 15, 0x1p-14f, 57344);
        break;
    case SCALAR_F16:
        ((GLOBAL f16 *)address)[index] = convert<f16>::from(x);
        break;
    case SCALAR_BF16:
        ((GLOBAL bf16 *)address)[index] = convert<bf16>::from(x);
        break;
    default:
        ((GLOBAL float *)address)[index] = x;
    }
}

INLINE float scale_read(u64 address)
{
    return address != 0 ? *(const GLOBAL float *)address : 1;
}

// ---- The product ----

KERNEL(SIDE *SIDE) void float8(struct float8_params p)
{
    static __shared__ float a_tile[DEPTH][TILE + 1], b_tile[DEPTH][TILE + 1];
    static __shared__ unsigned largest;
    const float alpha =
        scalar_read<float>(&p.alpha) * scale_read(p.a_scale) * scale_read(p.b_scale);
    const float plain_beta = scalar_read<float>(&p.beta);
    const float beta = plain_beta * scale_read(p.c_scale), d_scale = scale_read(p.d_scale);
    const int tiles = (p.m + TILE - 1) / TILE;
    const int first_i = (int)blockIdx.x % tiles * TILE, first_j = (int)blockIdx.x / tiles * TILE;
    const int t = (int)threadIdx.x, ti = t % SIDE, tj = t / SIDE;

    if (t == 0)
        largest = 0;
    __syncthreads();
    for (int batch = (int)blockIdx.z; batch < p.batch; batch += (int)gridDim.z) {
        float sum[2][2] = {{0, 0}, {0, 0}};

#pragma unroll 1
        for (int from = 0; from < p.k; from += DEPTH) {
#pragma unroll 1
            for (int e = t; e < TILE * DEPTH; e += SIDE * SIDE) {
                // Neighbouring threads take neighbouring addresses, whichever way a matrix lies.
                const int i = p.a.row == 1 ? e % TILE : e / DEPTH;
                const int i_deep = p.a.row == 1 ? e / TILE : e % DEPTH;
                const int j = p.b.row == 1 ? e / DEPTH : e % TILE;
                const int j_deep = p.b.row == 1 ? e % DEPTH : e / TILE;
                float x = 0, y = 0;

                if (first_i + i < p.m && from + i_deep < p.k)
                    x = element_read(p.a.address,
                                     batch * p.a.stride + (first_i + i) * p.a.row +
                                         (from + i_deep) * p.a.column,
                                     p.a_type);
                if (first_j + j < p.n && from + j_deep < p.k)
                    y = element_read(p.b.address,
                                     batch * p.b.stride + (from + j_deep) * p.b.row +
                                         (first_j + j) * p.b.column,
                                     p.b_type);
                a_tile[i_deep][i] = x;
                b_tile[j_deep][j] = y;
            }
            __syncthreads();
            for (int d = 0; d < DEPTH; d++)
#pragma unroll
                for (int i = 0; i < 2; i++)
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        sum[i][j] += a_tile[d][ti + i * SIDE] * b_tile[d][tj + j * SIDE];
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int row = first_i + ti + i * SIDE, column = first_j + tj + j * SIDE;
                float value = alpha * sum[i][j];

                if (row >= p.m || column >= p.n)
                    continue;
                if (plain_beta != 0)
                    value += beta *
                             element_read(p.c.address,
                                          batch * p.c.stride + row * p.c.row + column * p.c.column,
                                          p.c_type);
                // Magnitudes have the order of their bits.
                if (p.amax != 0)
                    __nvvm_atom_max_gen_ui(&largest,
                                           __builtin_bit_cast(unsigned, value) & 0x7fffffff);
                element_write(p.d.address, batch * p.d.stride + row * p.d.row + column * p.d.column,
                              p.d_type, value * d_scale);
            }
    }
    __syncthreads();
    if (t == 0 && p.amax != 0)
        asm volatile("red.global.max.u32 [%0], %1;" : : "l"(p.amax), "r"(largest) : "memory");
}
