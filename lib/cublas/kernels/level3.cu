// level3.cu - triangular systems and products, and sums and diagonal products of matrices.
#include "cublas/kernels/elements.h"

#define BLOCK 128

// A block solves one vector: it computes one element after the other, and its threads subtract that
// element's part from the following ones.
template <class T, class P> INLINE void trsm(const P &p)
{
    const T alpha = scalar_read<T>(&p.alpha);
    const bool lower = p.fill == FILL_LOWER;

    for (long long v = blockIdx.x; v < (long long)p.vectors * p.batch; v += gridDim.x) {
        const int batch = (int)(v / p.vectors);
        GLOBAL T *b = operand<T>(&p.b, batch) + v % p.vectors * p.b.column;

        for (int i = (int)threadIdx.x; i < p.m; i += BLOCK)
            b[i * p.b.row] = is_zero(alpha) ? T(0) : times(alpha, T(b[i * p.b.row]));
        __syncthreads();
        if (is_zero(alpha))
            continue;

        const GLOBAL T *a = operand<T>(&p.a, batch);
#pragma unroll 1
        for (int s = 0; s < p.m; s++) {
            const int k = lower ? s : p.m - 1 - s;
            T x = b[k * p.b.row];

            if (!p.unit)
                x = over(x, element<T>(p.a, a, k, k));
            __syncthreads(); // all have read what the first thread writes
            if (threadIdx.x == 0)
                b[k * p.b.row] = x;
#pragma unroll 1
            for (int t = s + 1 + (int)threadIdx.x; t < reach(p.a, s, p.m); t += BLOCK) {
                const int i = lower ? t : p.m - 1 - t;

                b[i * p.b.row] -= times(element<T>(p.a, a, i, k), x);
            }
            __syncthreads();
        }
    }
}

// A block multiplies one vector in place: it adds each element's part to the elements behind it in
// the triangle, after these have been used themselves.
template <class T, class P> INLINE void trmm(const P &p)
{
    const T alpha = scalar_read<T>(&p.alpha);
    const bool lower = p.fill == FILL_LOWER;

    for (long long v = blockIdx.x; v < (long long)p.vectors * p.batch; v += gridDim.x) {
        const int batch = (int)(v / p.vectors);
        const GLOBAL T *from = operand<T>(&p.from, batch) + v % p.vectors * p.from.column;
        GLOBAL T *b = operand<T>(&p.b, batch) + v % p.vectors * p.b.column;

        for (int i = (int)threadIdx.x; i < p.m; i += BLOCK)
            b[i * p.b.row] = is_zero(alpha) ? T(0) : times(alpha, T(from[i * p.from.row]));
        __syncthreads();
        if (is_zero(alpha))
            continue;

        const GLOBAL T *a = operand<T>(&p.a, batch);
#pragma unroll 1
        for (int s = p.m - 1; s >= 0; s--) {
            const int k = lower ? s : p.m - 1 - s;
            const T x = b[k * p.b.row];

            __syncthreads(); // all have read what the first thread writes
            if (threadIdx.x == 0 && !p.unit)
                b[k * p.b.row] = times(element<T>(p.a, a, k, k), x);
#pragma unroll 1
            for (int t = s + 1 + (int)threadIdx.x; t < reach(p.a, s, p.m); t += BLOCK) {
                const int i = lower ? t : p.m - 1 - t;

                b[i * p.b.row] += times(element<T>(p.a, a, i, k), x);
            }
            __syncthreads();
        }
    }
}

// One thread for each element of a column. If alpha or beta is 0, its matrix is not read.
template <class T> INLINE void geam(const struct elementwise_params &p)
{
    const T alpha = scalar_read<T>(&p.alpha);
    const T beta = scalar_read<T>(&p.beta);
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const GLOBAL T *a = operand<T>(&p.a, 0), *b = operand<T>(&p.b, 0);
    GLOBAL T *c = operand<T>(&p.c, 0);

    if (i >= p.m)
        return;
    for (int j = (int)blockIdx.z; j < p.n; j += (int)gridDim.z) {
        T value = T(0);

        if (!is_zero(alpha))
            value = times(alpha, element<T>(p.a, a, i, j));
        if (!is_zero(beta))
            value += times(beta, element<T>(p.b, b, i, j));
        c[i + j * p.c.column] = value;
    }
}

// One of b's row and column is 0, and the other is the diagonal's increment.
template <class T> INLINE void dgmm(const struct elementwise_params &p)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i >= p.m)
        return;
    for (int j = (int)blockIdx.z; j < p.n; j += (int)gridDim.z)
        operand<T>(&p.c, 0)[i + j * p.c.column] = times(element<T>(p.a, operand<T>(&p.a, 0), i, j),
                                                        element<T>(p.b, operand<T>(&p.b, 0), i, j));
}

#define LEVEL3(name, params, ...)                                                                  \
    KERNEL(BLOCK) void name(struct params p)                                                       \
    {                                                                                              \
        __VA_ARGS__(p);                                                                            \
    }

#define LEVEL3_ALL(type, T)                                                                        \
    LEVEL3(trsm_##type, triangle_params, trsm<T>)                                                  \
    LEVEL3(trmm_##type, triangle_params, trmm<T>)                                                  \
    LEVEL3(tbsv_##type, packed_triangle_params, trsm<T>)                                           \
    LEVEL3(tbmv_##type, packed_triangle_params, trmm<T>)                                           \
    LEVEL3(geam_##type, elementwise_params, geam<T>)                                               \
    LEVEL3(dgmm_##type, elementwise_params, dgmm<T>)

LEVEL3_ALL(f32, float)
LEVEL3_ALL(f64, double)
LEVEL3_ALL(c32, c32)
LEVEL3_ALL(c64, c64)
