// gemm.h - C = alpha op(A) op(B) + beta C for all types, strides, transposes and batches, without
// tensor cores. A block computes a tile of C. It keeps BK columns of op(A) and rows of op(B) in
// shared memory, in the type of the sum, while it loads the next ones into registers. A thread
// computes TM by TN elements of the tile, in groups of four.
#ifndef GS_CUBLAS_GEMM_H
#define GS_CUBLAS_GEMM_H

#include "cublas/kernels/words.h"

// The elements of a tile of op(A) (or of op(B), with rows and columns exchanged) that this thread
// loads. The tile has `Lines` lines, and Depth elements in the direction of k. Neighbouring threads
// take neighbouring addresses, in either order of storage.
template <class T, class X, int Lines, int Depth, int Threads> struct tile_loader {
    enum { COUNT = Lines * Depth / Threads };
    static_assert(Threads % Lines == 0 && Threads % Depth == 0, "a thread's elements lie in a row");
    const GLOBAL T *next;             // this thread's first element of the next tile
    long long step, apart;            // to the next tile's first element; between this thread's
    int line, deep, line_by, deep_by; // its position in the tile, and the steps to its others
    int lines, depth;                 // numbers left from that position on
    X kept[COUNT];

    INLINE void start(const GLOBAL T *first, long long line_step, long long depth_step,
                      int has_lines, int has_depth)
    {
        const int e = (int)threadIdx.x;

        line = line_step == 1 ? e % Lines : e / Depth;
        deep = line_step == 1 ? e / Lines : e % Depth;
        line_by = line_step == 1 ? 0 : Threads / Depth;
        deep_by = line_step == 1 ? Threads / Lines : 0;
        lines = has_lines - line;
        depth = has_depth - deep;
        step = Depth * depth_step;
        apart = line_by * line_step + deep_by * depth_step;
        next = first + line * line_step + deep * depth_step;
    }
    INLINE void load()
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            kept[c] = X(0);
            if (c * line_by < lines && c * deep_by < depth)
                kept[c] = convert<X>::from(T(next[c * apart]));
        }
        next += step;
        depth -= Depth;
    }
    INLINE void store(X (*tile)[Lines + 4])
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            tile[deep + c * deep_by][line + c * line_by] = kept[c];
    }
};

// This is one function, since clang compiles it to other code if a part is split off, even if that
// is inlined: the registers change, which decide how many blocks fit an SM.
template <class T, class C, class X, int BM, int BN, int BK, int TM, int TN>
INLINE void gemm(const struct gemm_params &p)
{
    enum { THREADS = BM * BN / TM / TN, ACROSS = BM / TM };
    typedef X four __attribute__((ext_vector_type(4)));
    static __shared__ __attribute__((aligned(32))) X a_tile[BK][BM + 4], b_tile[BK][BN + 4];
    const X alpha = scalar_read<X>(&p.alpha);
    const X beta = scalar_read<X>(&p.beta);
    const int k = alpha == X(0) ? 0 : p.k;
    const int tiles = (p.m + BM - 1) / BM;
    const int first_i = (int)blockIdx.x % tiles * BM, first_j = (int)blockIdx.x / tiles * BN;
    const int ti = (int)threadIdx.x % ACROSS * 4, tj = (int)threadIdx.x / ACROSS * 4;

    if ((p.fill == FILL_LOWER && first_i + BM <= first_j) ||
        (p.fill == FILL_UPPER && first_j + BN <= first_i))
        return;
    for (int batch = (int)blockIdx.z; batch < p.batch; batch += (int)gridDim.z) {
        X sum[TM][TN];
        tile_loader<T, X, BM, BK, THREADS> a;
        tile_loader<T, X, BN, BK, THREADS> b;

#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++)
                sum[i][j] = X(0);
        if (k > 0) {
            a.start(operand<T>(&p.a, batch) + first_i * p.a.row, p.a.row, p.a.column, p.m - first_i,
                    k);
            b.start(operand<T>(&p.b, batch) + first_j * p.b.column, p.b.column, p.b.row,
                    p.n - first_j, k);
            a.load();
            b.load();
        }
#pragma unroll 1
        for (int from = 0; from < k; from += BK) {
            a.store(a_tile);
            b.store(b_tile);
            __syncthreads();
            if (from + BK < k) {
                a.load();
                b.load();
            }
#pragma unroll 2
            for (int d = 0; d < BK; d++) {
                four x[TM / 4], y[TN / 4];

#pragma unroll
                for (int g = 0; g < TM / 4; g++)
                    x[g] = *(const four *)&a_tile[d][g * (BM / TM * 4) + ti];
#pragma unroll
                for (int g = 0; g < TN / 4; g++)
                    y[g] = *(const four *)&b_tile[d][g * (BN / TN * 4) + tj];
#pragma unroll
                for (int i = 0; i < TM; i++)
#pragma unroll
                    for (int j = 0; j < TN; j++)
                        sum[i][j] += x[i / 4][i % 4] * y[j / 4][j % 4];
            }
            __syncthreads();
        }

        GLOBAL C *c = operand<C>(&p.c, batch);
#pragma unroll
        for (int j = 0; j < TN; j++) {
            int column = first_j + j / 4 * (BN / TN * 4) + tj + j % 4;
            GLOBAL C *at = c + column * p.c.column;

            if (column >= p.n)
                continue;
#pragma unroll
            for (int i = 0; i < TM; i++) {
                int row = first_i + i / 4 * (BM / TM * 4) + ti + i % 4;

                if (row < p.m && filled(p.fill, row, column)) {
                    X value = alpha * sum[i][j];

                    if (beta != X(0))
                        value += beta * convert<X>::from(C(at[row]));
                    at[row] = convert<C>::from(value);
                }
            }
        }
    }
}

#define GEMM(name, T, C, X, BM, BN, BK, TM, TN)                                                    \
    KERNEL(BM *BN / TM / TN, 2) void name(struct gemm_params p)                                    \
    {                                                                                              \
        gemm<T, C, X, BM, BN, BK, TM, TN>(p);                                                      \
    }

#endif
