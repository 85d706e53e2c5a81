// tensor.h - C = alpha op(A) op(B) + beta C on tensor cores, for inputs of f16, bf16 and, as tf32,
// f32; sums are of f32.
//
// A block of 8 warps computes a tile of C of 128 by 128 elements, a warp 64 by 32 of them, by mma
// instructions of 16 by 8. The block goes through k in slices of 64 bytes. Shared memory has two
// buffers, each for a slice of op(A) and one of op(B): while the warps compute with one buffer,
// cp.async fills the other.
//
// A line is a row of op(A) or a column of op(B). An operand is lined where neighbouring addresses
// belong to neighbouring lines; otherwise they belong to neighbouring k. A slice lies in shared
// memory as its operand does in global memory, in rows of lines or of k. A parameter of the kernel
// says whether A and B are lined.
#ifndef GS_CUBLAS_TENSOR_H
#define GS_CUBLAS_TENSOR_H

#include "cublas/kernels/words.h"

enum {
    TILE = 128,
    THREADS = 256,
    CHUNK_BYTES = 16,
    SLICE_BYTES = 64,
    CHUNKS = TILE * SLICE_BYTES / CHUNK_BYTES / THREADS, // that a thread copies of an operand
    HALF = 64                                            // columns of C that are staged at a time
};

INLINE unsigned shared_address(const void *p)
{
    return (unsigned)(u64)(const __attribute__((address_space(3))) void *)p;
}

// The slices of one operand, one after the other, and the chunks of them that this thread copies.
template <class T, bool Lined> struct slice {
    enum {
        PER_CHUNK = CHUNK_BYTES / sizeof(T), // elements
        DEPTH = SLICE_BYTES / sizeof(T),     // in the direction of k
        // Bytes from row to row: 16 more than a multiple of 128 (32 more for rows of f32 lines), or
        // 80, so that reading a fragment touches each bank once.
        ROW = Lined ? TILE * sizeof(T) + (sizeof(T) == 4 ? 32 : 16) : SLICE_BYTES + 16,
        BYTES = Lined ? ROW * DEPTH : ROW * TILE
    };

    const GLOBAL T *from[CHUNKS]; // in the operand
    unsigned to[CHUNKS];          // in the slice, in bytes
    // The operand's elements from the chunk's first one on, along the chunk's row, and from row to
    // row. Not positive: none.
    int along[CHUNKS];
    int across[CHUNKS];
    long long step; // from a slice to the next one
    bool aligned;   // all chunks are aligned, so that cp.async can copy them

    INLINE void start(const GLOBAL T *base, long long line_step, long long k_step, int lines, int k)
    {
        const long long row_step = Lined ? k_step : line_step;

        aligned = ((u64)base | (u64)(row_step * (long long)sizeof(T))) % CHUNK_BYTES == 0;
        step = DEPTH * k_step;
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            const int per_row = (Lined ? TILE : DEPTH) / PER_CHUNK;
            const int chunk = (int)threadIdx.x + c * THREADS;
            const int row = chunk / per_row, first = chunk % per_row * PER_CHUNK;

            to[c] = row * ROW + first * sizeof(T);
            from[c] = base + row * row_step + first;
            along[c] = (Lined ? lines : k) - first;
            across[c] = (Lined ? k : lines) - row;
        }
    }

    // Begins to copy the next slice to `shared`. Elements outside the operand become 0.
    INLINE void copy(unsigned shared)
    {
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            int have = across[c] > 0 ? along[c] : 0;

            have = have < 0 ? 0 : have > PER_CHUNK ? (int)PER_CHUNK : have;
            if (aligned) {
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared + to[c]),
                             "l"(have > 0 ? (u64)from[c] : (u64)from[c] & ~(u64)15),
                             "r"(have * (int)sizeof(T))
                             : "memory");
            } else {
#pragma unroll 1
                for (int e = 0; e < PER_CHUNK; e++) {
                    unsigned bits = 0;

                    if (sizeof(T) == 2) {
                        if (e < have)
                            bits = ((const GLOBAL unsigned short *)from[c])[e];
                        asm volatile("st.shared.u16 [%0], %1;" ::"r"(shared + to[c] + e * 2),
                                     "h"((unsigned short)bits)
                                     : "memory");
                    } else {
                        if (e < have)
                            bits = ((const GLOBAL unsigned *)from[c])[e];
                        asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared + to[c] + e * 4),
                                     "r"(bits)
                                     : "memory");
                    }
                }
            }
            from[c] += step;
            if (Lined)
                across[c] -= DEPTH;
            else
                along[c] -= DEPTH;
        }
    }
};

INLINE void ldmatrix(unsigned (&r)[4], unsigned at, bool transposed)
{
    if (transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
}

// Loads the f32 at `at`, rounded to tf32.
INLINE unsigned tf32_load(unsigned at)
{
    float x;
    unsigned y;

    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(at) : "memory");
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
}

// Loads the fragments of a step, which is 32 bytes deep from `k` on, out of a slice. a: of 16 lines
// from `line` on. b: of two times 8 lines, in registers 0 and 1, and in 2 and 3. In halves ldmatrix
// loads four matrices of 8 by 8, of which each thread names a row: of k, by (plain_line, plain_k),
// or of lines, by (lined_line, lined_k), which it transposes.
template <class T, bool Lined> struct fragments {
    static INLINE void a(unsigned (&r)[4], unsigned slice, int line, int k)
    {
        const int lane = (int)threadIdx.x % 32;
        const int plain_line = line + lane % 8 + lane / 8 % 2 * 8, plain_k = k + lane / 16 * 8;
        const int lined_line = line + lane / 8 % 2 * 8, lined_k = k + lane % 8 + lane / 16 * 8;

        ldmatrix(r,
                 slice + (Lined ? lined_k * ::slice<T, true>::ROW + lined_line * 2
                                : plain_line * ::slice<T, false>::ROW + plain_k * 2),
                 Lined);
    }
    static INLINE void b(unsigned (&r)[4], unsigned slice, int line, int k)
    {
        const int lane = (int)threadIdx.x % 32;
        const int plain_line = line + lane % 8 + lane / 16 * 8, plain_k = k + lane / 8 % 2 * 8;
        const int lined_line = line + lane / 16 * 8, lined_k = k + lane % 8 + lane / 8 % 2 * 8;

        ldmatrix(r,
                 slice + (Lined ? lined_k * ::slice<T, true>::ROW + lined_line * 2
                                : plain_line * ::slice<T, false>::ROW + plain_k * 2),
                 Lined);
    }
};
// ldmatrix handles only halves, so here each thread loads its four elements.
template <bool Lined> struct fragments<float, Lined> {
    static INLINE unsigned at(unsigned slice, int line, int k)
    {
        return tf32_load(slice + (Lined ? k * ::slice<float, true>::ROW + line * 4
                                        : line * ::slice<float, false>::ROW + k * 4));
    }
    static INLINE void a(unsigned (&r)[4], unsigned slice, int line, int k)
    {
        const int g = line + (int)threadIdx.x % 32 / 4, t = k + (int)threadIdx.x % 4;

        r[0] = at(slice, g, t), r[1] = at(slice, g + 8, t);
        r[2] = at(slice, g, t + 4), r[3] = at(slice, g + 8, t + 4);
    }
    static INLINE void b(unsigned (&r)[4], unsigned slice, int line, int k)
    {
        const int g = line + (int)threadIdx.x % 32 / 4, t = k + (int)threadIdx.x % 4;

        r[0] = at(slice, g, t), r[1] = at(slice, g, t + 4);
        r[2] = at(slice, g + 8, t), r[3] = at(slice, g + 8, t + 4);
    }
};

#define MMA(shape, types)                                                                          \
    asm volatile("mma.sync.aligned." shape ".row.col." types                                       \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
INLINE void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, f16)
{
    MMA("m16n8k16", "f32.f16.f16.f32");
}
INLINE void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, bf16)
{
    MMA("m16n8k16", "f32.bf16.bf16.f32");
}
INLINE void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, float)
{
    MMA("m16n8k8", "f32.tf32.tf32.f32");
}

// This is one function, since clang compiles it to other code if a part is split off, even if that
// is inlined: the registers change, which decide how many blocks fit an SM.
template <class T, bool ALined, bool BLined> INLINE void tensor(const struct gemm_params &p)
{
    typedef slice<T, ALined> a_slice;
    typedef slice<T, BLined> b_slice;
    enum {
        DEPTH = a_slice::DEPTH,
        STEP = 32 / sizeof(T),
        STAGE = a_slice::BYTES + b_slice::BYTES,
        STAGED = HALF * (TILE + 1) * 4,
        BYTES = 2 * STAGE > STAGED ? 2 * STAGE : STAGED
    };
    static __shared__ __attribute__((aligned(128))) char memory[BYTES];
    const unsigned shared = shared_address(memory);
    const float alpha = scalar_read<float>(&p.alpha);
    const float beta = scalar_read<float>(&p.beta);
    const int k = alpha == 0 ? 0 : p.k;
    const int tiles = (p.m + TILE - 1) / TILE;
    const int first_i = (int)blockIdx.x % tiles * TILE, first_j = (int)blockIdx.x / tiles * TILE;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int warp_i = warp % 2 * 64, warp_j = warp / 2 * 32;

    if ((p.fill == FILL_LOWER && first_i + TILE <= first_j) ||
        (p.fill == FILL_UPPER && first_j + TILE <= first_i))
        return;
    for (int batch = (int)blockIdx.z; batch < p.batch; batch += (int)gridDim.z) {
        float sum[4][4][4];
        a_slice a;
        b_slice b;
        unsigned stage = shared;

#pragma unroll
        for (int i = 0; i < 64; i++)
            sum[i / 16][i / 4 % 4][i % 4] = 0;
        // The first slice goes into the first buffer.
        if (k > 0) {
            a.start(operand<T>(&p.a, batch) + first_i * p.a.row, p.a.row, p.a.column, p.m - first_i,
                    k);
            b.start(operand<T>(&p.b, batch) + first_j * p.b.column, p.b.column, p.b.row,
                    p.n - first_j, k);
            a.copy(stage);
            b.copy(stage + a_slice::BYTES);
            asm volatile("cp.async.commit_group;" ::: "memory");
        }
#pragma unroll 1
        for (int from = 0; from < k; from += DEPTH) {
            unsigned next = shared + (stage == shared ? STAGE : 0);

            asm volatile("cp.async.wait_group 0;" ::: "memory");
            __syncthreads(); // this slice has arrived, and no thread reads the other buffer
            if (from + DEPTH < k) {
                a.copy(next);
                b.copy(next + a_slice::BYTES);
                asm volatile("cp.async.commit_group;" ::: "memory");
            }
#pragma unroll
            for (int d = 0; d < DEPTH; d += STEP) {
                unsigned x[4][4], y[2][4];

#pragma unroll
                for (int i = 0; i < 4; i++)
                    fragments<T, ALined>::a(x[i], stage, warp_i + i * 16, d);
#pragma unroll
                for (int j = 0; j < 2; j++)
                    fragments<T, BLined>::b(y[j], stage + a_slice::BYTES, warp_j + j * 16, d);
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        mma(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1], T());
            }
            stage = next;
        }

        // The sums are staged in shared memory, 64 columns of the tile at a time, so that
        // neighbouring threads write neighbouring addresses of C, which lies by columns.
        float(*staged)[TILE + 1] = (float(*)[TILE + 1]) memory;
#pragma unroll 1
        for (int half = 0; half < TILE; half += HALF) {
            __syncthreads();
            if (warp_j / HALF * HALF == half) {
#pragma unroll
                for (int e = 0; e < 64; e++) {
                    const int i = e / 16, j = e / 4 % 4, part = e % 4;

                    staged[warp_j % HALF + j * 8 + lane % 4 * 2 + part % 2]
                          [warp_i + i * 16 + lane / 4 + part / 2 * 8] = sum[i][j][part];
                }
            }
            __syncthreads();
#pragma unroll 4
            for (int e = (int)threadIdx.x; e < HALF * TILE; e += THREADS) {
                const int i = first_i + e % TILE, j = first_j + half + e / TILE;
                const long long at = i + j * p.c.column;

                if (i >= p.m || j >= p.n || !filled(p.fill, i, j))
                    continue;
                float value = alpha * staged[e / TILE][e % TILE];
                if (p.c_wide) {
                    GLOBAL float *c = operand<float>(&p.c, batch) + at;

                    *c = beta != 0 ? value + beta * *c : value;
                } else {
                    GLOBAL T *c = operand<T>(&p.c, batch) + at;

                    *c = convert<T>::from(beta != 0 ? value + beta * convert<float>::from(T(*c))
                                                    : value);
                }
            }
        }
        __syncthreads();
    }
}

// The kernels of one type: nn, nt, tn, tt by how A and B are stored.
#define TENSOR(name, T, a, b)                                                                      \
    KERNEL(THREADS, 2) void name(struct gemm_params p)                                             \
    {                                                                                              \
        tensor<T, a, b>(p);                                                                        \
    }
#define TENSORS(name, T)                                                                           \
    TENSOR(name##_nn, T, true, false)                                                              \
    TENSOR(name##_nt, T, true, true)                                                               \
    TENSOR(name##_tn, T, false, false)                                                             \
    TENSOR(name##_tt, T, false, true)

#endif
