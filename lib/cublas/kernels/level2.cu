// level2.cu - a matrix and vectors: gemv, for one and for many, ger, and both where a band or a
// triangle without gaps is stored.
#include "cublas/kernels/elements.h"

#define LANES  32
#define GROUPS 8

// A block has LANES by GROUPS threads. If rows are adjacent in memory (N), each lane has a row, and
// the groups share the row's columns; otherwise (T) each group has a row, and the lanes share its
// columns.
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

// One thread for each element of a column; a block handles its columns one after the other.
template <class T, class P> INLINE void ger(const P &p)
{
    const T alpha = scalar_read<T>(&p.alpha);
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    GLOBAL T *a = operand<T>(&p.a, 0);
    const GLOBAL T *x = operand<T>(&p.x, 0), *y = operand<T>(&p.y, 0);

    if (is_zero(alpha) || i >= p.m)
        return;
    for (int j = (int)blockIdx.z; j < p.n; j += (int)gridDim.z)
        if (filled(p.fill, i, j)) {
            GLOBAL T *at = &a[place(p.a, i, j)];
            const T right = y[j * p.y.row];
            const T sum = *at + times(times(alpha, T(x[i * p.x.row])),
                                      p.y.conjugated ? conjugate(right) : right);

            *at = p.hermitian && i == j ? from_real<T>(real(sum)) : sum;
        }
}

// Each group has a row, and the lanes share the row's columns.
template <class T> INLINE void gbmv(const struct packed_params &p)
{
    static __shared__ T part[GROUPS][LANES + 1];
    const T alpha = scalar_read<T>(&p.alpha);
    const T beta = scalar_read<T>(&p.beta);
    const int lane = (int)threadIdx.x % LANES, group = (int)threadIdx.x / LANES;
    const int row = (int)blockIdx.x * GROUPS + group;
    const long long before = row - p.a.before, behind = row + p.a.behind;
    const int first = before > 0 ? (int)before : 0;
    const int end = behind < p.n ? (int)behind + 1 : p.n;
    T sum = T(0);

    if (row < p.m && !is_zero(alpha)) {
        const GLOBAL T *a = operand<T>(&p.a, 0), *x = operand<T>(&p.x, 0);

#pragma unroll 1
        for (int j = first + lane; j < end; j += LANES)
            sum += times(element<T>(p.a, a, row, j), T(x[j * p.x.row]));
    }
    part[group][lane] = sum;
    __syncthreads();
    if (row < p.m && lane == 0) {
        GLOBAL T *y = operand<T>(&p.y, 0) + row * p.y.row;

        sum = T(0);
        for (int i = 0; i < LANES; i++)
            sum += part[group][i];
        sum = times(alpha, sum);
        *y = is_zero(beta) ? sum : sum + times(beta, T(*y));
    }
}

// One thread for each element of a column.
template <class T> INLINE void repack(const struct repack_params &p)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    GLOBAL T *a = operand<T>(&p.a, 0), *c = operand<T>(&p.c, 0);

    if (i >= p.n)
        return;
    for (int j = (int)blockIdx.z; j < p.n; j += (int)gridDim.z)
        if (filled(p.a.fill, i, j)) {
            if (p.unpack)
                c[place(p.c, i, j)] = a[place(p.a, i, j)];
            else
                a[place(p.a, i, j)] = c[place(p.c, i, j)];
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

#define PACKED(type, T)                                                                            \
    KERNEL(LANES *GROUPS) void gbmv_##type(struct packed_params p)                                 \
    {                                                                                              \
        gbmv<T>(p);                                                                                \
    }                                                                                              \
    KERNEL(LANES *GROUPS) void spr_##type(struct packed_params p)                                  \
    {                                                                                              \
        ger<T>(p);                                                                                 \
    }                                                                                              \
    KERNEL(LANES *GROUPS) void repack_##type(struct repack_params p)                               \
    {                                                                                              \
        repack<T>(p);                                                                              \
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
PACKED(f32, float)
PACKED(f64, double)
PACKED(c32, c32)
PACKED(c64, c64)
// clang-format on
