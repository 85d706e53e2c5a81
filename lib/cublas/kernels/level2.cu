// level2.cu - a matrix and a vector: gemv, for one and for many, and ger.
#include "cublas/kernels/complex.h"

#define LANES  32
#define GROUPS 8

// One block of LANES by GROUPS threads. Where rows lie beside each other (N), a lane has a row and
// the groups share its columns; else (T) a group has a row, and the lanes share its columns.
template <class T, class C, class X> INLINE void gemv(const struct gemv_params &p)
{
    static __shared__ X part[GROUPS][LANES + 1];
    const X alpha = scalar_read<X>(&p.alpha);
    const X beta = scalar_read<X>(&p.beta);
    const int lane = (int)threadIdx.x % LANES, group = (int)threadIdx.x / LANES;
    const bool along = p.a.row == 1;
    const int row = (int)blockIdx.x * (along ? LANES : GROUPS) + (along ? lane : group);
    const int first = along ? group : lane, step = along ? GROUPS : LANES;

    for (int batch = (int)blockIdx.z; batch < p.batch; batch += (int)gridDim.z) {
        X sum = X(0);

        if (row < p.m && !is_zero(alpha)) {
            const GLOBAL T *a = operand<T>(&p.a, batch) + row * p.a.row;
            const GLOBAL T *x = operand<T>(&p.x, batch);

#pragma unroll 4
            for (int j = first; j < p.n; j += step) {
                const X element = convert<X>::from(T(a[j * p.a.column]));

                sum += times(p.a.conjugated ? conjugate(element) : element,
                             convert<X>::from(T(x[j * p.x.row])));
            }
        }
        part[group][lane] = sum;
        __syncthreads();
        if (row < p.m && first == 0) {
            GLOBAL C *y = operand<C>(&p.y, batch) + row * p.y.row;
            X value;

            sum = X(0);
            for (int i = 0; i < step; i++)
                sum += along ? part[i][lane] : part[group][i];
            value = times(alpha, sum);
            if (!is_zero(beta))
                value += times(beta, convert<X>::from(C(*y)));
            *y = convert<C>::from(value);
        }
        __syncthreads();
    }
}

// A thread for each element of a column, blocks of columns one after the other.
template <class T> INLINE void ger(const struct ger_params &p)
{
    const T alpha = scalar_read<T>(&p.alpha);
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    GLOBAL T *a = operand<T>(&p.a, 0);
    const GLOBAL T *x = operand<T>(&p.x, 0), *y = operand<T>(&p.y, 0);

    if (is_zero(alpha) || i >= p.m)
        return;
    for (int j = (int)blockIdx.z; j < p.n; j += (int)gridDim.z)
        if (filled(p.fill, i, j)) {
            GLOBAL T *at = &a[i + j * p.a.column];
            const T right = y[j * p.y.row];
            const T sum = *at + times(times(alpha, T(x[i * p.x.row])),
                                      p.y.conjugated ? conjugate(right) : right);

            *at = p.hermitian && i == j ? from_real<T>(real(sum)) : sum;
        }
}

#define GEMV(name, T, C, X)                                                                        \
    KERNEL(LANES *GROUPS) void name(struct gemv_params p)                                          \
    {                                                                                              \
        gemv<T, C, X>(p);                                                                          \
    }
#define GER(name, T)                                                                               \
    KERNEL(LANES *GROUPS) void name(struct ger_params p)                                           \
    {                                                                                              \
        ger<T>(p);                                                                                 \
    }

// clang-format off
GEMV(gemv_f32,      float,  float,  float)
GEMV(gemv_f64,      double, double, double)
GEMV(gemv_f16,      f16,    f16,    float)
GEMV(gemv_f16_f32,  f16,    float,  float)
GEMV(gemv_bf16,     bf16,   bf16,   float)
GEMV(gemv_bf16_f32, bf16,   float,  float)
GER(ger_f32, float)
GER(ger_f64, double)
GEMV(gemv_c32,      c32,    c32,    c32)
GEMV(gemv_c64,      c64,    c64,    c64)
GER(ger_c32, c32)
GER(ger_c64, c64)
// clang-format on
