// level3.cu - triangular systems, and sums and diagonal products of matrices.
#include "cublas/kernels/words.h"

#define BLOCK 128

// A block solves one vector: it takes one element after the other, and its threads take that one's
// part from those that follow.
template <class T> INLINE void trsm(const struct trsm_params &p)
{
    const T alpha = scalar_read<T>(&p.alpha);
    const bool lower = p.fill == FILL_LOWER;

    for (long long v = blockIdx.x; v < (long long)p.vectors * p.batch; v += gridDim.x) {
        const int batch = (int)(v / p.vectors);
        GLOBAL T *b = operand<T>(&p.b, batch) + v % p.vectors * p.b.column;

        for (int i = (int)threadIdx.x; i < p.m; i += BLOCK)
            b[i * p.b.row] = alpha == T(0) ? T(0) : alpha * b[i * p.b.row];
        __syncthreads();
        if (alpha == T(0))
            continue;

        const GLOBAL T *a = operand<T>(&p.a, batch);
#pragma unroll 1
        for (int s = 0; s < p.m; s++) {
            const int k = lower ? s : p.m - 1 - s;
            T x = b[k * p.b.row];

            if (!p.unit)
                x = x / a[k * (p.a.row + p.a.column)];
            __syncthreads(); // all have read what the first thread writes
            if (threadIdx.x == 0)
                b[k * p.b.row] = x;
#pragma unroll 1
            for (int t = s + 1 + (int)threadIdx.x; t < p.m; t += BLOCK) {
                const int i = lower ? t : p.m - 1 - t;

                b[i * p.b.row] -= a[i * p.a.row + k * p.a.column] * x;
            }
            __syncthreads();
        }
    }
}

// A thread for each element of a column. beta or alpha of 0: that matrix is not read.
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

        if (alpha != T(0))
            value = alpha * a[i * p.a.row + j * p.a.column];
        if (beta != T(0))
            value += beta * b[i * p.b.row + j * p.b.column];
        c[i + j * p.c.column] = value;
    }
}

// Of b one of row and column is 0, the other the diagonal's increment.
template <class T> INLINE void dgmm(const struct elementwise_params &p)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i >= p.m)
        return;
    for (int j = (int)blockIdx.z; j < p.n; j += (int)gridDim.z)
        operand<T>(&p.c, 0)[i + j * p.c.column] =
            operand<T>(&p.a, 0)[i + j * p.a.column] *
            operand<T>(&p.b, 0)[i * p.b.row + j * p.b.column];
}

#define LEVEL3(name, params, ...)                                                                  \
    KERNEL(BLOCK) void name(struct params p)                                                       \
    {                                                                                              \
        __VA_ARGS__(p);                                                                            \
    }

// clang-format off
LEVEL3(trsm_f32, trsm_params, trsm<float>)
LEVEL3(trsm_f64, trsm_params, trsm<double>)
LEVEL3(geam_f32, elementwise_params, geam<float>)
LEVEL3(geam_f64, elementwise_params, geam<double>)
LEVEL3(dgmm_f32, elementwise_params, dgmm<float>)
LEVEL3(dgmm_f64, elementwise_params, dgmm<double>)
// clang-format on
