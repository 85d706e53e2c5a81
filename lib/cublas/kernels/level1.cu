// level1.cu - operations on vectors. Operations with one result run in one block, in a fixed order,
// so that a sum is the same each time.
#include "cublas/kernels/complex.h"
#include "cublas/kernels/givens.h"

#define BLOCK 512

template <class T> INLINE GLOBAL T *vector(u64 address)
{
    return (GLOBAL T *)address;
}

// Loops over n elements in strides of the grid.
#define EACH(i, n)                                                                                 \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x,                           \
                   step_ = (long long)gridDim.x * blockDim.x;                                      \
         i < (n); i += step_)

template <class T, class X> INLINE void axpy(const struct vector_params &p)
{
    const X alpha = scalar_read<X>(&p.alpha);
    const GLOBAL T *x = vector<T>(p.x);
    GLOBAL T *y = vector<T>(p.y);

    if (is_zero(alpha))
        return;
    EACH(i, p.n)
    y[i * p.incy] = convert<T>::from(times(alpha, convert<X>::from(T(x[i * p.incx]))) +
                                     convert<X>::from(T(y[i * p.incy])));
}

template <class T, class X> INLINE void scal(const struct vector_params &p)
{
    const X alpha = scalar_read<X>(&p.alpha);
    GLOBAL T *x = vector<T>(p.x);

    EACH(i, p.n)
    x[i * p.incx] = convert<T>::from(times(alpha, convert<X>::from(T(x[i * p.incx]))));
}

template <class T> INLINE void copy(const struct vector_params &p)
{
    EACH(i, p.n)
    vector<T>(p.y)[i * p.incy] = vector<T>(p.x)[i * p.incx];
}

template <class T> INLINE void swap(const struct vector_params &p)
{
    EACH(i, p.n)
    {
        T x = vector<T>(p.x)[i * p.incx];

        vector<T>(p.x)[i * p.incx] = vector<T>(p.y)[i * p.incy];
        vector<T>(p.y)[i * p.incy] = x;
    }
}

template <class T, class X> INLINE void rot(const struct vector_params &p)
{
    const X c = scalar_read<X>(&p.alpha), s = scalar_read<X>(&p.beta);

    EACH(i, p.n)
    {
        const X x = convert<X>::from(T(vector<T>(p.x)[i * p.incx]));
        const X y = convert<X>::from(T(vector<T>(p.y)[i * p.incy]));

        vector<T>(p.x)[i * p.incx] = convert<T>::from(times(c, x) + times(s, y));
        vector<T>(p.y)[i * p.incy] = convert<T>::from(times(c, y) - times(conjugate(s), x));
    }
}

GIVENS(float, float, INLINE, root)
GIVENS(double, double, INLINE, root)

// Loads a number of type S and converts it to T.
template <class T, class S> INLINE T load(u64 address, long long i = 0)
{
    return convert<T>::from(S(vector<S>(address)[i]));
}
template <class S, class T> INLINE void store(u64 address, T x, long long i = 0)
{
    vector<S>(address)[i] = convert<S>::from(x);
}

// Applies rotm. Its matrix is in alpha and beta, as numbers of type T, or its parameters are at
// alpha's address.
#define ROTM(type, S, T)                                                                           \
    INLINE void rotm_of_##type(const struct vector_params &p)                                      \
    {                                                                                              \
        T h[4], param[5];                                                                          \
                                                                                                   \
        for (int i = 0; i < 4; i++)                                                                \
            __builtin_memcpy(&h[i], &(i < 2 ? p.alpha : p.beta).bits[i % 2], sizeof(T));           \
        if (p.alpha.address) {                                                                     \
            for (int i = 0; i < 5; i++)                                                            \
                param[i] = load<T, S>(p.alpha.address, i);                                         \
            if (!rotm_matrix_##T(param, h))                                                        \
                return;                                                                            \
        }                                                                                          \
        EACH(i, p.n)                                                                               \
        {                                                                                          \
            const T x = load<T, S>(p.x, i * p.incx), y = load<T, S>(p.y, i * p.incy);              \
                                                                                                   \
            store<S>(p.x, h[0] * x + h[1] * y, i * p.incx);                                        \
            store<S>(p.y, h[2] * x + h[3] * y, i * p.incy);                                        \
        }                                                                                          \
    }                                                                                              \
    KERNEL(1) void rotg_##type(struct rotation_params p)                                           \
    {                                                                                              \
        T a = load<T, S>(p.at[0]), b = load<T, S>(p.at[1]), c, s;                                  \
                                                                                                   \
        rotg_##T(&a, &b, &c, &s);                                                                  \
        store<S>(p.at[0], a), store<S>(p.at[1], b);                                                \
        store<S>(p.at[2], c), store<S>(p.at[3], s);                                                \
    }                                                                                              \
    KERNEL(1) void rotmg_##type(struct rotation_params p)                                          \
    {                                                                                              \
        T d1 = load<T, S>(p.at[0]), d2 = load<T, S>(p.at[1]), x1 = load<T, S>(p.at[2]), param[5];  \
                                                                                                   \
        for (int i = 0; i < 5; i++)                                                                \
            param[i] = load<T, S>(p.at[4], i);                                                     \
        rotmg_##T(&d1, &d2, &x1, load<T, S>(p.at[3]), param);                                      \
        store<S>(p.at[0], d1), store<S>(p.at[1], d2), store<S>(p.at[2], x1);                       \
        for (int i = 0; i < 5; i++)                                                                \
            store<S>(p.at[4], param[i], i);                                                        \
    }

#define ROTG_COMPLEX(type, T)                                                                      \
    KERNEL(1) void rotg_##type(struct rotation_params p)                                           \
    {                                                                                              \
        T a[2], b[2], c, s[2];                                                                     \
                                                                                                   \
        for (int i = 0; i < 2; i++)                                                                \
            a[i] = vector<T>(p.at[0])[i], b[i] = vector<T>(p.at[1])[i];                            \
        rotg_complex_##T(a, b, &c, s);                                                             \
        *vector<T>(p.at[2]) = c;                                                                   \
        for (int i = 0; i < 2; i++)                                                                \
            vector<T>(p.at[0])[i] = a[i], vector<T>(p.at[3])[i] = s[i];                            \
    }

// ---- One result ----

// Reduces all threads' values by `combine`, for thread 0.
#define REDUCE(values, combine)                                                                    \
    do {                                                                                           \
        for (int half_ = BLOCK / 2; half_ > 0; half_ /= 2) {                                       \
            __syncthreads();                                                                       \
            if ((int)threadIdx.x < half_) {                                                        \
                auto &left = values[threadIdx.x];                                                  \
                auto right = values[threadIdx.x + half_];                                          \
                combine;                                                                           \
            }                                                                                      \
        }                                                                                          \
        __syncthreads();                                                                           \
    } while (0)

template <class T, class X> INLINE void dot(const struct vector_params &p)
{
    static __shared__ X part[BLOCK];
    X sum = X(0);

#pragma unroll 4
    for (long long i = threadIdx.x; i < p.n; i += BLOCK) {
        const X x = convert<X>::from(T(vector<T>(p.x)[i * p.incx]));

        sum +=
            times(p.conjugated ? conjugate(x) : x, convert<X>::from(T(vector<T>(p.y)[i * p.incy])));
    }
    part[threadIdx.x] = sum;
    REDUCE(part, left += right);
    if (threadIdx.x == 0)
        *vector<T>(p.result) = convert<T>::from(part[0]);
}

// The result has the type of X's parts.
template <class T, class X> INLINE void asum(const struct vector_params &p)
{
    static __shared__ real_type<X> part[BLOCK];
    real_type<X> sum = 0;

#pragma unroll 4
    for (long long i = threadIdx.x; i < p.n; i += BLOCK)
        sum += magnitude(convert<X>::from(T(vector<T>(p.x)[i * p.incx])));
    part[threadIdx.x] = sum;
    REDUCE(part, left += right);
    if (threadIdx.x == 0)
        *vector<real_type<X>>(p.result) = part[0];
}

template <class T> INLINE double square_wide(T x)
{
    return square(convert<double>::from(x));
}
INLINE double square_wide(c32 x)
{
    return square(c64{x.x, x.y});
}

// The sum of squares of f32 and narrower cannot overflow in f64.
template <class T> INLINE void nrm2(const struct vector_params &p)
{
    static __shared__ double part[BLOCK];
    double sum = 0;

#pragma unroll 4
    for (long long i = threadIdx.x; i < p.n; i += BLOCK)
        sum += square_wide(T(vector<T>(p.x)[i * p.incx]));
    part[threadIdx.x] = sum;
    REDUCE(part, left += right);
    if (threadIdx.x == 0)
        *vector<real_type<T>>(p.result) = convert<real_type<T>>::from(root(part[0]));
}

// The sum of squares of f64 can overflow, so the vector is divided by its largest element first.
template <class T> INLINE void nrm2_wide(const struct vector_params &p)
{
    static __shared__ double part[BLOCK];
    double largest = 0, sum = 0;

    for (long long i = threadIdx.x; i < p.n; i += BLOCK) {
        const double x = magnitude(T(vector<T>(p.x)[i * p.incx]));

        largest = x > largest || x != x ? x : largest;
    }
    part[threadIdx.x] = largest;
    REDUCE(part, left = right > left || right != right ? right : left);
    largest = part[0];
    __syncthreads();
    if (largest > 0 && largest * 0 == 0) {
#pragma unroll 4
        for (long long i = threadIdx.x; i < p.n; i += BLOCK) {
            const T x = vector<T>(p.x)[i * p.incx];

            sum += square(T(x / largest));
        }
        part[threadIdx.x] = sum;
        REDUCE(part, left += right);
        largest *= root(part[0]);
    }
    if (threadIdx.x == 0)
        *vector<double>(p.result) = largest;
}

// Finds the first of the largest elements, or of the smallest, counted from 1.
template <class T, class X, bool Smallest> INLINE void extreme(const struct vector_params &p)
{
    struct best {
        real_type<X> value;
        long long index;
    };
    static __shared__ best part[BLOCK];
    best mine = {0, -1};

    for (long long i = threadIdx.x; i < p.n; i += BLOCK) {
        const real_type<X> x = magnitude(convert<X>::from(T(vector<T>(p.x)[i * p.incx])));

        if (mine.index < 0 || (Smallest ? x < mine.value : x > mine.value))
            mine = {x, i};
    }
    part[threadIdx.x] = mine;
    REDUCE(part, {
        bool better = Smallest ? right.value < left.value : right.value > left.value;

        if (right.index >= 0 &&
            (left.index < 0 || better || (right.value == left.value && right.index < left.index)))
            left = right;
    });
    if (threadIdx.x == 0 && p.wide_index)
        *vector<long long>(p.result) = part[0].index + 1;
    else if (threadIdx.x == 0)
        *vector<int>(p.result) = (int)part[0].index + 1;
}

struct pair { // of 64-bit words: an element of 16 bytes
    u64 low, high;
};
template <> INLINE void copy<pair>(const struct vector_params &p)
{
    EACH(i, p.n)
    {
        vector<u64>(p.y)[2 * i * p.incy] = vector<u64>(p.x)[2 * i * p.incx];
        vector<u64>(p.y)[2 * i * p.incy + 1] = vector<u64>(p.x)[2 * i * p.incx + 1];
    }
}
template <> INLINE void swap<pair>(const struct vector_params &p)
{
    EACH(i, 2 * p.n)
    {
        GLOBAL u64 *x = vector<u64>(p.x) + i / 2 * 2 * p.incx + i % 2;
        GLOBAL u64 *y = vector<u64>(p.y) + i / 2 * 2 * p.incy + i % 2;
        u64 kept = *x;

        *x = *y;
        *y = kept;
    }
}

#define VECTOR(name, ...)                                                                          \
    KERNEL(BLOCK) void name(struct vector_params p)                                                \
    {                                                                                              \
        __VA_ARGS__(p);                                                                            \
    }

// clang-format off
VECTOR(axpy_f32,  axpy<float, float>)
VECTOR(axpy_f64,  axpy<double, double>)
VECTOR(axpy_f16,  axpy<f16, float>)
VECTOR(axpy_bf16, axpy<bf16, float>)
VECTOR(scal_f32,  scal<float, float>)
VECTOR(scal_f64,  scal<double, double>)
VECTOR(scal_f16,  scal<f16, float>)
VECTOR(scal_bf16, scal<bf16, float>)
VECTOR(copy_2,    copy<unsigned short>)
VECTOR(copy_4,    copy<unsigned>)
VECTOR(copy_8,    copy<u64>)
VECTOR(copy_16,   copy<pair>)
VECTOR(swap_2,    swap<unsigned short>)
VECTOR(swap_4,    swap<unsigned>)
VECTOR(swap_8,    swap<u64>)
VECTOR(swap_16,   swap<pair>)
VECTOR(rot_f32,   rot<float, float>)
VECTOR(rot_f64,   rot<double, double>)
VECTOR(rot_f16,   rot<f16, float>)
VECTOR(rot_bf16,  rot<bf16, float>)
VECTOR(rot_c32,   rot<c32, c32>)
VECTOR(rot_c64,   rot<c64, c64>)
ROTM(f32, float, float)
ROTM(f64, double, double)
ROTM(f16, f16, float)
ROTM(bf16, bf16, float)
VECTOR(rotm_f32,  rotm_of_f32)
VECTOR(rotm_f64,  rotm_of_f64)
VECTOR(rotm_f16,  rotm_of_f16)
VECTOR(rotm_bf16, rotm_of_bf16)
ROTG_COMPLEX(c32, float)
ROTG_COMPLEX(c64, double)
VECTOR(dot_f32,   dot<float, float>)
VECTOR(dot_f64,   dot<double, double>)
VECTOR(dot_f16,   dot<f16, float>)
VECTOR(dot_bf16,  dot<bf16, float>)
VECTOR(asum_f32,  asum<float, float>)
VECTOR(asum_f64,  asum<double, double>)
VECTOR(asum_f16,  asum<f16, float>)
VECTOR(asum_bf16, asum<bf16, float>)
VECTOR(nrm2_f32,  nrm2<float>)
VECTOR(nrm2_f64,  nrm2_wide<double>)
VECTOR(nrm2_f16,  nrm2<f16>)
VECTOR(nrm2_bf16, nrm2<bf16>)
VECTOR(iamax_f32, extreme<float, float, false>)
VECTOR(iamax_f64, extreme<double, double, false>)
VECTOR(iamax_f16, extreme<f16, float, false>)
VECTOR(iamax_bf16, extreme<bf16, float, false>)
VECTOR(iamin_f32, extreme<float, float, true>)
VECTOR(iamin_f64, extreme<double, double, true>)
VECTOR(iamin_f16, extreme<f16, float, true>)
VECTOR(iamin_bf16, extreme<bf16, float, true>)
VECTOR(axpy_c32,  axpy<c32, c32>)
VECTOR(axpy_c64,  axpy<c64, c64>)
VECTOR(scal_c32,  scal<c32, c32>)
VECTOR(scal_c64,  scal<c64, c64>)
VECTOR(dot_c32,   dot<c32, c32>)
VECTOR(dot_c64,   dot<c64, c64>)
VECTOR(asum_c32,  asum<c32, c32>)
VECTOR(asum_c64,  asum<c64, c64>)
VECTOR(nrm2_c32,  nrm2<c32>)
VECTOR(nrm2_c64,  nrm2_wide<c64>)
VECTOR(iamax_c32, extreme<c32, c32, false>)
VECTOR(iamax_c64, extreme<c64, c64, false>)
VECTOR(iamin_c32, extreme<c32, c32, true>)
VECTOR(iamin_c64, extreme<c64, c64, true>)
// clang-format on
